"""What a policy is: a shape of workers, and a controller that is shown readings and names a desired count."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from headway.scaling import Reading
from headway_ops.simulate.conditions import Conditions
from headway_ops.simulate.shape import FleetShape


@dataclass(frozen=True, kw_only=True)
class Looks:
    """When a controller is shown a reading, and when it decides.

    ``scheduled``: EventBridge starts each minute's. ``turns``: it reads before each period ends
    (`headway.scaling.turns`).
    """

    every_s: float
    decides_every_s: float
    scheduled: bool = True
    turns: bool = False


class Controller(Protocol):
    """One run's controller; it may remember what it likes."""

    def look(self, reading: Reading, cpu_percent: float, now: float) -> None:
        """Take a reading of the lanes and the heavy fleet, and the fleet's mean CPU."""

    def decide(self, now: float, desired: int, *, start: int | None = None, deploying: bool = False) -> int:
        """Return the desired count, ``desired`` where it stays as it is.

        ``start`` is the count that a change is added to, where that is not the desired one.
        """


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A way to size the heavy fleet. ``controller`` makes one for each run.

    ``under`` changes the conditions of a run; only bounds, which no fleet can reach, use it.
    """

    name: str
    fleet: FleetShape
    looks: Looks
    controller: Callable[[], Controller]
    under: Callable[[Conditions], Conditions] = lambda conditions: conditions
