"""The ladder of a step-scaling policy: which capacity each metric value asks for."""

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

#: Application Auto Scaling's quota of step adjustments a policy ("Step adjustments" in its user guide).
MAX_STEPS = 20


class StepsError(ValueError):
    """A ladder that Application Auto Scaling would refuse, or that leaves a metric value without an answer."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One adjustment for metric values in [lower, upper), counted from the alarm's threshold; None is unbounded."""

    lower: float | None
    upper: float | None
    adjustment: int


def ladder(lowest: int, highest: int, *, rungs: int = MAX_STEPS) -> tuple[int, ...]:
    """Return at most ``rungs`` task counts from lowest to highest, evenly spread and always holding both ends.

    >>> ladder(1, 4)
    (1, 2, 3, 4)
    >>> ladder(1, 100, rungs=4)
    (1, 34, 67, 100)
    """
    span = highest - lowest
    count = min(rungs, span + 1)
    if count == 1:
        return (highest,)
    return tuple(lowest + (span * i + (count - 2)) // (count - 1) for i in range(count))


def rung_at_or_above(levels: Sequence[int], need: int) -> int:
    """Return the lowest of rising ``levels`` that is enough for ``need``, or the highest level there is."""
    return levels[min(bisect.bisect_left(levels, need), len(levels) - 1)]


def exact_capacity_steps(levels: Sequence[int], *, threshold: float) -> tuple[Step, ...]:
    """Return one ExactCapacity step a level: a published level L sets the capacity to L.

    The first step starts at the threshold, whatever its level, and the last is unbounded: every alarming value has an
    answer.
    """
    lowers = [0.0, *(level - threshold for level in levels[1:])]
    uppers: list[float | None] = [*lowers[1:], None]
    return tuple(
        Step(lower=lower, upper=upper, adjustment=level)
        for level, lower, upper in zip(levels, lowers, uppers, strict=True)
    )


def check_steps(steps: Sequence[Step]) -> None:
    """Refuse a ladder with too many steps, a gap, an overlap, or bounds out of order.

    Raises:
        StepsError: with the values that are uncovered or covered twice.
    """
    if not 1 <= len(steps) <= MAX_STEPS:
        raise StepsError(f"{len(steps)} steps; a policy takes 1..{MAX_STEPS}")
    for this, following in itertools.pairwise(steps):
        if this.upper is None or following.lower is None or this.upper > following.lower:
            raise StepsError(f"steps overlap at {following.lower}")
        if this.upper < following.lower:
            raise StepsError(f"steps leave {this.upper}..{following.lower} uncovered")
    for step in steps:
        if step.lower is not None and step.upper is not None and step.lower >= step.upper:
            raise StepsError(f"step {step.lower}..{step.upper} is empty")
