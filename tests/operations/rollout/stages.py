"""A deployed stage as the rollout's steps see it, without an account."""

import dataclasses
from typing import Any

from headway_ops.deployed import DeployedStage
from headway_ops.promotion import Phase, Promotion, StackState
from tests.operations.services import service


class _Stage(DeployedStage):
    def __init__(self, running: int | None) -> None:
        super().__init__("dev", _no_client)
        self.services = () if running is None else (service("fast", running=running),)


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


def _no_client(name: str) -> Any:
    raise AssertionError(f"{name} was asked")
