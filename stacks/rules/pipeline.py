"""The pipeline: whose repository it reads, and which stages it promotes."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from stacks.rules.problem import Problem

if TYPE_CHECKING:
    from stacks.settings import PipelineSettings, StageSettings

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
#: Both prefixes of a connection's ARN (Developer Tools console user guide, "Rename - Summary of changes").
_CONNECTION = re.compile(r"arn:aws[\w-]*:(?:codeconnections|codestar-connections):[\w-]+:\d{12}:connection/.+")
_ACCOUNT = re.compile(r"\d{12}")


def pipeline_problems(pipeline: "PipelineSettings", stages: Mapping[str, "StageSettings"]) -> Iterator[Problem]:
    """Yield what is wrong with the pipeline."""
    for field, pattern, bound, fix in (
        ("repository", _REPOSITORY, "must be owner/name", "name the repository that has this file"),
        (
            "connection_arn",
            _CONNECTION,
            "must be a connection's ARN",
            "create one in CodeConnections, and authorize it",
        ),
        ("account", _ACCOUNT, "must be an account's twelve digits", "set the account that the pipeline runs in"),
    ):
        value = getattr(pipeline, field)
        if not pattern.fullmatch(value):
            yield Problem(field=field, value=value, bound=bound, fix=fix)
    for name in pipeline.stages:
        if name not in stages or stages[name].laptop is not None:
            known = ", ".join(known for known, stage in stages.items() if stage.laptop is None)
            yield Problem(
                field="stages", value=pipeline.stages, bound=f"no deployed stage {name!r}", fix=f"use {known}"
            )
        elif not _ACCOUNT.fullmatch(stages[name].account):
            # A pipeline deploys across accounts, so none can be "wherever the credentials point".
            fix = f"set account in [stages.{name}]"
            yield Problem(field="stages", value=pipeline.stages, bound=f"stage {name!r} names no account", fix=fix)
    for name in pipeline.approve:
        if name not in pipeline.stages:
            yield Problem(
                field="approve", value=pipeline.approve, bound=f"{name!r} is not promoted", fix="add it to stages"
            )
