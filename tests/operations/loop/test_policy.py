"""Step scaling, against the worked examples of the Auto Scaling user guides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.scaling import ScalingPlan, Step
from headway_ops.loop import Adjustment, StepPolicy, Target
from headway_ops.loop.policy import Scaling, round_percent

#: The guide's example policies on an alarm threshold of 50: +10% from 60, +30% from 70; -10% at 40, -30% at 30.
OUT = StepPolicy(
    adjustment=Adjustment.PERCENT,
    cooldown_s=0,
    steps=(
        Step(lower=0, upper=10, adjustment=0),
        Step(lower=10, upper=20, adjustment=10),
        Step(lower=20, upper=None, adjustment=30),
    ),
)
IN = StepPolicy(
    adjustment=Adjustment.PERCENT,
    cooldown_s=0,
    steps=(
        Step(lower=-10, upper=0, adjustment=0),
        Step(lower=-20, upper=-10, adjustment=-10),
        Step(lower=None, upper=-20, adjustment=-30),
    ),
)


def test_the_guides_worked_example_comes_out() -> None:
    """EC2 Auto Scaling user guide, "Step adjustments": 10 -> 11 at 60, 14 at 70, 13 at 40, 10 at 30 (threshold 50)."""
    scaling = Scaling(target=Target(min_capacity=1, max_capacity=100))
    capacities = [10]
    for now, (policy, metric) in enumerate([(OUT, 60), (OUT, 70), (IN, 40), (IN, 30)]):
        capacities.append(scaling.apply(policy, breach=metric - 50, capacity=capacities[-1], now=now * 60))
    assert capacities == [10, 11, 14, 13, 10]


@pytest.mark.parametrize(("change", "rounded"), [(12.7, 12), (0.67, 1), (-0.58, -1), (-6.67, -6), (0.0, 0)])
def test_percent_changes_are_rounded_as_in_the_guide(change: float, rounded: int) -> None:
    """The guide's four examples: 12.7 -> 12, .67 -> 1, -.58 -> -1, -6.67 -> -6."""
    assert round_percent(change) == rounded


@pytest.mark.parametrize(
    ("breach", "capacity"),
    [(9.99, 100), (10, 110), (19.99, 110), (20, 130), (-9.99, 100), (-10, 90), (-19.99, 90), (-20, 70)],
)
def test_bounds_are_inclusive_on_the_side_of_the_threshold(breach: float, capacity: int) -> None:
    """Above the threshold the lower bound is inclusive and the upper exclusive; below it the other way round."""
    assert (OUT if breach > 0 else IN).capacity_after(breach, 100) == capacity


def test_a_breach_outside_every_step_changes_nothing() -> None:
    """The guide: a metric value without a step leaves the capacity alone."""
    policy = StepPolicy(adjustment=Adjustment.CHANGE, steps=(Step(lower=0, upper=5, adjustment=1),))
    assert policy.capacity_after(7, 3) == 3


def change(add: int, *, cooldown_s: float = 300) -> StepPolicy:
    """A policy that adds a fixed number."""
    return StepPolicy(
        adjustment=Adjustment.CHANGE, cooldown_s=cooldown_s, steps=(Step(lower=None, upper=None, adjustment=add),)
    )


def test_in_a_scale_out_cooldown_only_the_difference_of_a_larger_step_is_added() -> None:
    """API reference, StepScalingPolicyConfiguration: +2, then +3 in the cooldown adds one more, and +2 adds nothing."""
    scaling = Scaling(target=Target(min_capacity=0, max_capacity=100))
    assert scaling.apply(change(2), breach=0, capacity=10, now=0) == 12
    assert scaling.apply(change(2), breach=0, capacity=12, now=60) == 12
    assert scaling.apply(change(3), breach=0, capacity=12, now=120) == 13
    assert scaling.apply(change(2), breach=0, capacity=13, now=421) == 15


def test_a_scale_in_cooldown_blocks_scale_ins_and_a_scale_out_ends_it() -> None:
    """The guide: scale-ins wait out the cooldown; a scale-out acts at once, and the scale-in cooldown stops."""
    scaling = Scaling(target=Target(min_capacity=0, max_capacity=100))
    assert scaling.apply(change(-1), breach=0, capacity=10, now=0) == 9
    assert scaling.apply(change(-1), breach=0, capacity=9, now=100) == 9
    assert scaling.apply(change(2, cooldown_s=0), breach=0, capacity=9, now=110) == 11
    assert scaling.apply(change(-1), breach=0, capacity=11, now=120) == 10


def test_a_change_is_added_to_the_count_it_starts_from() -> None:
    """Of 5 desired 2 run: +4 makes 6, +2 asks for 4 and takes none back. Where 6 run, -2 makes 4 and -1 adds none."""
    scaling = Scaling(target=Target(min_capacity=0, max_capacity=100))

    def after(add: int, *, running: int) -> int:
        return scaling.apply(change(add, cooldown_s=0), breach=0, capacity=5, start=running, now=0)

    assert [after(4, running=2), after(2, running=2), after(-2, running=6), after(-1, running=6)] == [6, 5, 4, 5]


@given(st.integers(0, 10), st.integers(1, 10), st.integers(0, 10))
def test_an_exact_capacity_does_not_depend_on_where_it_starts(capacity: int, level: int, start: int) -> None:
    """ExactCapacity sets its level, up or down, whatever runs."""
    scaling = Scaling(target=Target(min_capacity=0, max_capacity=100))
    exact = StepPolicy(adjustment=Adjustment.EXACT, steps=(Step(lower=0, upper=None, adjustment=level),), cooldown_s=0)
    assert scaling.apply(exact, breach=0, capacity=capacity, start=start, now=0) == level


@given(st.integers(-50, 150), st.integers(0, 120))
def test_no_policy_passes_the_targets_bounds(add: int, capacity: int) -> None:
    """Whatever a step asks for, the capacity a policy sets lies within the scalable target's bounds."""
    scaling = Scaling(target=Target(min_capacity=2, max_capacity=40))
    after = scaling.apply(change(add), breach=0, capacity=capacity, now=0)
    assert after == capacity or 2 <= after <= 40


@given(st.integers(1, 300), st.integers(1, 64), st.integers(0, 20), st.integers(0, 20))
def test_every_level_a_plan_publishes_becomes_the_capacity(quota: int, concurrency: int, start: int, pick: int) -> None:
    """A published level L, minus the alarm's threshold, meets the ExactCapacity step that sets exactly L."""
    plan = ScalingPlan(
        concurrency=concurrency,
        max_inflight=1,
        quota_calls=max(quota, concurrency),
        min_tasks=1,
        calls_per_job=0,
        spare_slots=0,
        burst_beta=0,
    )
    policy = StepPolicy(adjustment=Adjustment.EXACT, steps=plan.steps, cooldown_s=0)
    level = plan.levels[pick % len(plan.levels)]
    assert policy.capacity_after(level - 1, start) == level
