"""What does a step-scaling policy make of a breach?

Modelled from the Application Auto Scaling user guide ("Step scaling policies": how scaling adjustments are rounded,
which bound is inclusive, what a cooldown allows) and its API reference (StepScalingPolicyConfiguration).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from headway.scaling import Step


class Adjustment(StrEnum):
    """How a step's number changes the capacity."""

    CHANGE = "ChangeInCapacity"
    PERCENT = "PercentChangeInCapacity"
    EXACT = "ExactCapacity"


@dataclass(frozen=True, kw_only=True)
class Target:
    """A scalable target: the bounds that no policy passes."""

    min_capacity: int
    max_capacity: int

    def clamp(self, capacity: int) -> int:
        """Return ``capacity`` within the bounds."""
        return min(max(capacity, self.min_capacity), self.max_capacity)


@dataclass(frozen=True, kw_only=True)
class StepPolicy:
    """One policy's definition. ``cooldown_s`` is 300 where a template leaves it out, as for every ECS service."""

    adjustment: Adjustment
    steps: tuple[Step, ...]
    cooldown_s: float = 300.0
    min_magnitude: int = 0

    def step_for(self, breach: float) -> Step | None:
        """Return the step for a breach (metric value minus threshold), or None where no step covers it.

        Above the threshold a step's lower bound is inclusive, below it the upper bound is.
        """
        return next((step for step in self.steps if _covers(step, breach)), None)

    def capacity_after(self, breach: float, capacity: int) -> int:
        """Return the capacity this policy asks for, before bounds and cooldowns."""
        step = self.step_for(breach)
        if step is None:
            return capacity
        match self.adjustment:
            case Adjustment.EXACT:
                return step.adjustment
            case Adjustment.CHANGE:
                return capacity + step.adjustment
            case Adjustment.PERCENT:
                change = round_percent(capacity * step.adjustment / 100)
                if self.min_magnitude and abs(change) < self.min_magnitude:
                    change = int(math.copysign(self.min_magnitude, step.adjustment))
                return capacity + change


def _covers(step: Step, breach: float) -> bool:
    lower = -math.inf if step.lower is None else step.lower
    upper = math.inf if step.upper is None else step.upper
    return lower <= breach < upper if breach >= 0 else lower < breach <= upper


def round_percent(change: float) -> int:
    """Round a percent change as the guide does: down above 1, to 1 below it, and the same mirrored.

    >>> [round_percent(x) for x in (12.7, 0.67, -0.58, -6.67)]
    [12, 1, -1, -6]
    """
    if 0 < change < 1:
        return 1
    if -1 < change < 0:
        return -1
    return math.trunc(change)


@dataclass(kw_only=True)
class Scaling:
    """One target's scaling activities: who scaled last, how far, and until when that counts."""

    target: Target
    out_until: float = -math.inf
    out_added: int = 0
    in_until: float = -math.inf

    def apply(
        self,
        policy: StepPolicy,
        *,
        breach: float,
        capacity: int,
        now: float,
        start: int | None = None,
        deploying: bool = False,
    ) -> int:
        """Return the new capacity, and remember the activity.

        A change is added to ``start`` where that is given, else to the ``capacity`` that is desired: the ECS guide
        says the running count, field reports say the desired one. A policy that adds never takes, nor the other way.
        During a scale-out cooldown only a larger scale-out acts, and only for the difference; a scale-in cooldown
        blocks scale-ins and is cancelled by any scale-out. While a service is ``deploying`` nothing scales it in
        (ECS developer guide, "Troubleshooting service auto scaling").
        """
        base = capacity if start is None else start
        exact = policy.adjustment is Adjustment.EXACT
        wanted = self.target.clamp(policy.capacity_after(breach, base))
        if wanted > capacity and (exact or wanted > base):
            if now < self.out_until and not exact:
                base = capacity - self.out_added
                wanted = self.target.clamp(policy.capacity_after(breach, base))
                if wanted <= capacity:
                    return capacity
            self.out_added = wanted - base
            self.out_until = now + policy.cooldown_s
            self.in_until = -math.inf
            return wanted
        if wanted < capacity and (exact or wanted < base) and now >= self.in_until and not deploying:
            self.in_until = now + policy.cooldown_s
            return wanted
        return capacity


def steps_from(adjustments: Sequence[dict[str, object]]) -> tuple[Step, ...]:
    """Return the steps of a template's StepAdjustments."""

    def bound(value: object) -> float | None:
        return None if value is None else float(str(value))

    return tuple(
        Step(
            lower=bound(adjustment.get("MetricIntervalLowerBound")),
            upper=bound(adjustment.get("MetricIntervalUpperBound")),
            adjustment=int(str(adjustment["ScalingAdjustment"])),
        )
        for adjustment in adjustments
    )
