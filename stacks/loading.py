"""stages.toml, read once: every stage as settings that are valid, or one line that says what is not."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import pydantic

from stacks.rules import Problem, problems
from stacks.rules.pipeline import pipeline_problems
from stacks.settings import PipelineSettings, StageSettings

Settings = TypeVar("Settings", bound=pydantic.BaseModel)

STAGES_FILE = Path(__file__).resolve().parent.parent / "stages.toml"


class SettingsError(ValueError):
    """The settings cannot be used; the message is one line: field, value, bound, fix."""


def load_stages(path: Path = STAGES_FILE) -> dict[str, StageSettings]:
    """Return every stage by name, in the file's order, all of them valid.

    Raises:
        SettingsError: the file is missing or is no TOML, or a value is out of bounds.
    """
    document = _document(path)
    stages = document.get("stages")
    if not isinstance(stages, dict) or not stages:
        raise SettingsError(f"{path.name}: stages: missing; define at least one table [stages.NAME]")
    base = document.get("base", {})
    return {name: _stage(name, _overlay(base, own), path.name) for name, own in stages.items()}


def load_stage(name: str, path: Path = STAGES_FILE) -> StageSettings:
    """Return the stage called ``name``.

    Raises:
        SettingsError: there is no such stage, or the file is not valid.
    """
    stages = load_stages(path)
    if name not in stages:
        raise SettingsError(f"stage = {name!r}: unknown; {path.name} has {', '.join(stages)}")
    return stages[name]


def load_pipeline(stages: Mapping[str, StageSettings], path: Path = STAGES_FILE) -> PipelineSettings | None:
    """Return what promotes ``stages``, or None where the file has no table [pipeline].

    Raises:
        SettingsError: the table is not valid.
    """
    values = _document(path).get("pipeline")
    if values is None:
        return None
    pipeline = _validated(PipelineSettings, values, f"{path.name}: pipeline")
    _refuse(next(pipeline_problems(pipeline, stages), None), f"{path.name}: pipeline")
    return pipeline


def _document(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path.name}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise SettingsError(f"{path.name}: not TOML: {error}") from None


def _overlay(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in own.items():
        below = merged.get(key)
        merged[key] = _overlay(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged


def _stage(name: str, values: Mapping[str, Any], file: str) -> StageSettings:
    where = f"{file}: stages.{name}"
    stage = _validated(StageSettings, {**values, "name": name}, where)
    _refuse(next(problems(stage), None), where)
    return stage


def _validated(kind: type[Settings], values: Mapping[str, Any], where: str) -> Settings:
    try:
        return kind.model_validate(values)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        given = "" if first["type"] in ("missing", "extra_forbidden") else f" = {first['input']!r}"
        raise SettingsError(f"{where}.{field}{given}: {first['msg'].lower()}") from None


def _refuse(found: Problem | None, where: str) -> None:
    if found:
        raise SettingsError(f"{where}.{found.field} = {found.value!r}: {found.bound}; {found.fix}")
