"""What does stages.toml mean a lane's worker to be told? Each variable with the setting that it comes from."""

import dataclasses
from collections.abc import Mapping

from headway.contract import WorkerEnv
from stacks.settings import StageSettings


def intended(settings: StageSettings, lane: str) -> Mapping[str, tuple[str, str]]:
    """Return (value as the contract writes it, setting) by variable, for each variable that is a setting's number."""
    queue, service = settings.consumed_lanes[lane]
    rooms = ((f"lanes.{lane}", "", queue), (f"services.{lane}", "", service), ("model", "model_", settings.model))
    found: dict[str, tuple[str, str]] = {}
    variables = WorkerEnv.variables()
    for field in dataclasses.fields(WorkerEnv):
        for room, prefix, values in rooms:
            name = field.name.removeprefix(prefix)
            if field.name.startswith(prefix) and hasattr(values, name):
                found[variables[field.name]] = (_text(getattr(values, name)), f"{room}.{name}")
                break
    found[variables["quota_calls"]] = (str(settings.model.quota_calls), "model.quota_calls")
    found[variables["region"]] = (settings.region, "region")
    return found


def _text(value: object) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)
