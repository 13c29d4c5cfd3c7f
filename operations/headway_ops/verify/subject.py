"""What a verification looks at, and how long it waits for what a deployment has only begun."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headway.contract import DatabaseSecret, ProducerEnv
from headway_ops.connection import Connection
from headway_ops.deployed import DeployedStage
from headway_ops.doctor import Finding
from headway_ops.local.errors import StageError
from stacks.settings import StageSettings

#: What a check yields: a finding, or one line about what it could not find out.
Said = Finding | str

#: The pause between two looks, wall seconds.
LOOK_AGAIN_S = 1.0


@dataclass(frozen=True)
class Patience:
    """Looks again until all is well or ``within_s`` wall seconds are over; the clock and the pause are given."""

    within_s: float
    clock: Callable[[], float] = field(default=time.monotonic)
    pause: Callable[[float], None] = field(default=time.sleep)

    def until_well(self, look: Callable[[], list[Said]]) -> list[Said]:
        """Return what the last look said."""
        end = self.clock() + self.within_s
        while True:
            said = look()
            if not any(isinstance(each, Finding) for each in said) or self.clock() >= end:
                return said
            self.pause(LOOK_AGAIN_S)


@dataclass(frozen=True)
class Subject:
    """A stage to verify: its settings, this release's templates by stack name, and the way to it."""

    settings: StageSettings
    templates: Mapping[str, Mapping[str, Any]]
    connection: Connection
    patience: Patience

    def template(self, stack: str) -> Mapping[str, Any]:
        """Return the template of a stack by its short name.

        Raises:
            StageError: the stage has no such stack.
        """
        name = f"headway-{self.settings.name}-{stack}"
        if name not in self.templates:
            raise StageError(f"stage {self.settings.name} has no stack {stack}: it imports what that would make")
        return self.templates[name]

    def again(self) -> DeployedStage:
        """Return a new look at the stage."""
        return self.connection.deployed()

    @property
    def producer(self) -> ProducerEnv:
        """What a sender is told."""
        return self.connection.producer

    @property
    def database(self) -> DatabaseSecret:
        """The way to its jobs."""
        return self.connection.database

    def wall(self, stage_s: float, *, at_least: float = 0.0) -> float:
        """Return a stage duration in wall seconds."""
        return max(stage_s / self.connection.speed, at_least)
