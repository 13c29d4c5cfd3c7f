"""Deployed services without an account."""

import datetime as dt
from typing import Any

from headway_ops.deployed import Definition, DeployedService, RunningTask

#: When the service's deployment began.
BEGAN = dt.datetime(2030, 1, 1, 12, 0, tzinfo=dt.UTC)


def service(
    lane: str = "heavy",
    *,
    asked: dict[str, str] | None = None,
    variables: dict[str, str] | None = None,
    log_group: str = "",
    **changes: Any,
) -> DeployedService:
    """Return a service at rest with one task; ``asked`` and ``variables`` are its template's and its own in service."""
    told = {"HEADWAY_LANE": lane, **(variables or {})}
    serving = Definition("now", told, {}, "arn:aws:iam::000000000000:role/r", log_group, f"{lane}/Worker/")
    values: dict[str, Any] = {
        "logical_id": f"{lane.capitalize()}Service",
        "lane": lane,
        "cluster": "cluster",
        "name": lane,
        "asked": Definition("now", {**told, **(asked or {})}, {}, serving.role_arn, log_group, serving.stream),
        "serving": serving,
        "desired": 1,
        "running": 1,
        "rollout": "COMPLETED",
        "deployments": 1,
        "failed_tasks": 0,
        "began": BEGAN,
        "tasks": (RunningTask("cluster/t1", "now", "RUNNING", None),),
    }
    return DeployedService(**{**values, **changes})
