"""The reconciler: an idle limit that no living job reaches, and an alarm that waits for more than one run."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stacks.rules.problem import Problem, within

if TYPE_CHECKING:
    from stacks.settings import StageSettings


def reconciler_problems(stage: "StageSettings") -> Iterator[Problem]:
    """Yield what is wrong with the reconciler."""
    numbers = stage.reconciler
    field, silent_s = _longest_silence(stage)
    if numbers.idle_limit_s <= silent_s:
        yield Problem(
            field="reconciler.idle_limit_s",
            value=numbers.idle_limit_s,
            bound=f"must exceed {silent_s}, {field} and a lease: it would cancel live jobs",
            fix=f"set {max(3_600, silent_s + 600)}",
        )
    yield from within("reconciler.every_min", numbers.every_min, 1, 60)
    field, every_min = _between_runs(stage)
    if numbers.silent_alarm_min < 2 * every_min:
        yield Problem(
            field="reconciler.silent_alarm_min",
            value=numbers.silent_alarm_min,
            bound=f"must be at least twice {field} = {every_min:g}, or it would go off between two runs",
            fix=f"set {math.ceil(10 * every_min)}",
        )


def _between_runs(stage: "StageSettings") -> tuple[str, float]:
    """Return the stage minutes between the starts of two runs, and what sets them."""
    every, laptop = ("every_min", float(stage.reconciler.every_min)), stage.laptop
    if laptop is None:
        return every
    thinned = ("laptop.schedule_min_wall_s in stage minutes", laptop.schedule_min_wall_s * laptop.speed / 60)
    return max(every, thinned, key=lambda pause: pause[1])


def _longest_silence(stage: "StageSettings") -> tuple[str, int]:
    """Return for how long a step that lives may show no sign of life, and what sets it.

    A worker's beat is a sign of life; the longest call counts whole all the same, for a worker that is cut off from
    the job store. Splitting a drawing has no beat. To both comes the lease after which a lost message is back.
    """
    heavy, fast = stage.lanes.heavy, stage.lanes.fast
    return max(
        ("model.timeout_s", stage.model.timeout_s + heavy.visibility_timeout_s),
        ("services.fast.time_limit_s", stage.services.fast.time_limit_s + fast.visibility_timeout_s),
        key=lambda silence: silence[1],
    )
