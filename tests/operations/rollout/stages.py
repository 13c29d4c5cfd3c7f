"""A deployed stage as the rollout's steps see it, without an account."""

import dataclasses
from typing import Any

from headway_ops.deployed import Definition, DeployedService, DeployedStage
from headway_ops.promotion import Phase, Promotion, StackState

_DEFINITION = Definition("arn:task-definition/fast:1", {"HEADWAY_LANE": "fast"}, {}, "arn:role/fast", "", "")


class _Stage(DeployedStage):
    def __init__(self, running: int | None) -> None:
        super().__init__("dev", _no_client)
        self.services = () if running is None else (_service(running),)


def stage(running: int | None = None) -> DeployedStage:
    """Return a stage whose fast lane has a service with so many running tasks, or none."""
    return _Stage(running)


def promotion(*, held: int = 0, sends: frozenset[str] = frozenset()) -> Promotion:
    """Return a stage at rest with both lanes, so many messages in the fast one, and a producer that sends there."""
    both = frozenset({"heavy", "fast"})
    settled = StackState(phase=Phase.SETTLED, released=True)
    stacks = {
        "queues": dataclasses.replace(settled, lanes=both),
        "jobstore": settled,
        "consumer": dataclasses.replace(settled, lanes=both),
        "producer": dataclasses.replace(settled, sends=sends),
    }
    return Promotion(stacks=stacks, held={"fast": held, "heavy": 3})


def _service(running: int) -> DeployedService:
    return DeployedService(
        logical_id="FastService",
        lane="fast",
        cluster="cluster",
        name="fast",
        asked=_DEFINITION,
        serving=_DEFINITION,
        desired=1,
        running=running,
        rollout="COMPLETED",
        deployments=1,
        failed_tasks=0,
        began=None,
        tasks=(),
    )


def _no_client(service: str) -> Any:
    raise AssertionError(f"{service} was asked")
