"""Ladders and steps: spread evenly, complete, and refused where AWS would refuse them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.scaling import Step, StepsError, check_steps, exact_capacity_steps, in_flight, max_tasks_within
from headway.scaling.classic import change_in_capacity_steps
from headway.scaling.steps import MAX_STEPS, ladder, rung_at_or_above

bounds = st.tuples(st.integers(1, 500), st.integers(0, 2_000)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(bounds)
def test_ladder_rises_from_end_to_end(ends: tuple[int, int]) -> None:
    """At most 20 rungs, strictly rising, and both ends are rungs."""
    rungs = ladder(*ends)
    assert len(rungs) == min(MAX_STEPS, ends[1] - ends[0] + 1)
    assert rungs[-1] == ends[1]
    assert len(rungs) == 1 or rungs[0] == ends[0]
    assert all(lower < upper for lower, upper in itertools.pairwise(rungs))


@given(bounds)
def test_ladder_is_even(ends: tuple[int, int]) -> None:
    """No two gaps differ by more than one task."""
    rungs = ladder(*ends)
    gaps = {upper - lower for lower, upper in itertools.pairwise(rungs)}
    assert not gaps or max(gaps) - min(gaps) <= 1


@given(bounds, st.integers(0, 3_000))
def test_rung_is_the_lowest_that_is_enough(ends: tuple[int, int], need: int) -> None:
    """The rung covers the need, and the one below would not; above the ladder it is the highest."""
    rungs = ladder(*ends)
    rung = rung_at_or_above(rungs, need)
    assert rung >= min(need, rungs[-1])
    assert all(lower < need for lower in rungs if lower < rung)


@given(bounds)
def test_every_published_level_sets_itself(ends: tuple[int, int]) -> None:
    """AWS picks the step whose interval, counted from the threshold, holds the metric: level L must pick capacity L."""
    levels = ladder(*ends)
    steps = exact_capacity_steps(levels, threshold=1)
    check_steps(steps)
    for level in levels:
        above = level - 1
        (chosen,) = [
            step.adjustment
            for step in steps
            if (step.lower is None or step.lower <= above) and (step.upper is None or above < step.upper)
        ]
        assert chosen == level


def test_classic_steps_count_from_their_first_threshold() -> None:
    """Thresholds 5, 10, 20 become [0, 5), [5, 15), [15, ...)."""
    assert change_in_capacity_steps([5, 10, 20], [1, 2, 4]) == (
        Step(lower=0, upper=5, adjustment=1),
        Step(lower=5, upper=15, adjustment=2),
        Step(lower=15, upper=None, adjustment=4),
    )


def steps(*pairs: tuple[float | None, float | None]) -> list[Step]:
    """Return steps with these bounds."""
    return [Step(lower=lower, upper=upper, adjustment=1) for lower, upper in pairs]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (steps(), r"0 steps; a policy takes 1\.\.20"),
        (steps(*((i, i + 1) for i in range(21))), r"21 steps; a policy takes 1\.\.20"),
        (steps((0, 5), (20, None)), r"steps leave 5\.\.20 uncovered"),
        (steps((0, 10), (5, None)), "steps overlap at 5"),
        (steps((0, None), (5, None)), "steps overlap at 5"),
        (steps((5, 5)), r"step 5\.\.5 is empty"),
        (steps((7, 3)), r"step 7\.\.3 is empty"),
    ],
)
def test_ladder_that_aws_would_refuse_is_refused(bad: list[Step], message: str) -> None:
    """Too many steps, gaps, overlaps and empty steps are named with their values."""
    with pytest.raises(StepsError, match=message):
        check_steps(bad)


def test_twenty_steps_are_accepted() -> None:
    """Twenty is the quota, not one too many."""
    check_steps(steps(*((i, i + 1) for i in range(20))))


@given(quota=st.integers(1, 5_000), concurrency=st.integers(1, 64), max_inflight=st.integers(1, 8))
def test_budget_is_tight(quota: int, concurrency: int, max_inflight: int) -> None:
    """The most tasks fit in the quota, and one more would not."""
    most = max_tasks_within(quota, concurrency=concurrency, max_inflight=max_inflight)
    assert in_flight(tasks=most, concurrency=concurrency, max_inflight=max_inflight) <= quota
    assert in_flight(tasks=most + 1, concurrency=concurrency, max_inflight=max_inflight) > quota
