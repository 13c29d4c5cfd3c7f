"""The classic alternative: step changes of capacity on waiting messages by running task."""

from collections.abc import Sequence

from headway.scaling.steps import Step


def change_in_capacity_steps(at: Sequence[float], add_tasks: Sequence[int]) -> tuple[Step, ...]:
    """Return steps that add ``add_tasks[i]`` tasks from a value of ``at[i]`` on; the alarm's threshold is ``at[0]``.

    >>> [(s.lower, s.upper, s.adjustment) for s in change_in_capacity_steps([5, 10], [1, 2])]
    [(0, 5, 1), (5, None, 2)]
    """
    lowers = [value - at[0] for value in at]
    uppers: list[float | None] = [*lowers[1:], None]
    return tuple(
        Step(lower=lower, upper=upper, adjustment=adjustment)
        for lower, upper, adjustment in zip(lowers, uppers, add_tasks, strict=True)
    )
