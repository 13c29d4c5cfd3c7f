"""The plan: worked examples by arithmetic, and what holds for every reading."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.scaling import Decision, LaneCounts, Reading, ScalingPlan

PLAN = ScalingPlan(
    concurrency=8, max_inflight=1, quota_calls=120, min_tasks=1, calls_per_job=5.6, spare_slots=4, burst_beta=2
)


def reading(
    visible: int = 0,
    in_flight: int = 0,
    *,
    fast: int = 0,
    running: int = 1,
    desired: int = 1,
    protected: int = 0,
    deploying: bool = False,
) -> Reading:
    """Return a reading with ``fast`` messages waiting in the fast lane."""
    return Reading(
        heavy=LaneCounts(visible=visible, in_flight=in_flight),
        fast=LaneCounts(visible=fast, in_flight=0),
        running=running,
        desired=desired,
        protected=protected,
        deploying=deploying,
    )


plans = st.builds(
    ScalingPlan,
    concurrency=st.integers(1, 64),
    max_inflight=st.integers(1, 8),
    quota_calls=st.integers(512, 5_000),  # at least one task of 64 x 8 calls
    min_tasks=st.integers(0, 1),
    max_tasks=st.integers(0, 200),
    calls_per_job=st.floats(0, 20),
    spare_slots=st.floats(0, 50),
    burst_beta=st.floats(0, 5),
)
readings = st.builds(
    Reading,
    heavy=st.builds(LaneCounts, visible=st.integers(0, 5_000), in_flight=st.integers(0, 5_000)),
    fast=st.none() | st.builds(LaneCounts, visible=st.integers(0, 500), in_flight=st.integers(0, 500)),
    running=st.integers(0, 300),
    desired=st.integers(0, 300),
    protected=st.integers(0, 300),
    deploying=st.booleans(),
)

EXAMPLES = [
    # idle: 4 spare slots fit in the one task that is always there
    (reading(), Decision(need=1, scale_out_to=0, scale_in_to=0, backlog_per_task=0.0)),
    # (64 + 4 + 2 x sqrt 64) / 8 = 10.5
    (reading(64), Decision(need=11, scale_out_to=11, scale_in_to=0, backlog_per_task=64.0)),
    # the same work in flight needs the same tasks: (0 + 64 + 4 + 16) / 8
    (reading(0, 64, running=11, desired=11), Decision(need=11, scale_out_to=0, scale_in_to=0, backlog_per_task=0.0)),
    # ten jobs about to send 5.6 messages each: (0 + 56 + 4 + 0) / 8 = 7.5
    (reading(fast=10), Decision(need=8, scale_out_to=8, scale_in_to=0, backlog_per_task=0.0)),
    # more than the quota feeds: 120 // 8 = 15
    (reading(5_000), Decision(need=15, scale_out_to=15, scale_in_to=0, backlog_per_task=5_000.0)),
    # (16 + 4 + 8) / 8 = 3.5 down from 15
    (
        reading(0, 16, running=15, desired=15),
        Decision(need=4, scale_out_to=0, scale_in_to=4, backlog_per_task=0.0),
    ),
    # the same, but 6 tasks protect work: below 6 ECS would refuse new protection
    (
        reading(0, 16, running=15, desired=15, protected=6),
        Decision(need=6, scale_out_to=0, scale_in_to=6, backlog_per_task=0.0),
    ),
    # protected tasks that a deployment replaces can outnumber the desired count: they are no reason to scale out
    (
        reading(0, 16, running=9, desired=6, protected=9, deploying=True),
        Decision(need=6, scale_out_to=0, scale_in_to=0, backlog_per_task=0.0),
    ),
    # without a deployment, work began after the reading that a scale-in followed: the scale-in is taken back
    (
        reading(0, 16, running=9, desired=6, protected=9),
        Decision(need=9, scale_out_to=9, scale_in_to=0, backlog_per_task=0.0),
    ),
    # nothing runs yet: divided by one, not by none
    (reading(7, running=0, desired=1), Decision(need=3, scale_out_to=3, scale_in_to=0, backlog_per_task=7.0)),
]


@pytest.mark.parametrize(("seen", "decided"), EXAMPLES)
def test_worked_example(seen: Reading, decided: Decision) -> None:
    """Need = ceil((backlog + coming + spare + beta x sqrt(backlog)) / slots a task), within its bounds."""
    assert PLAN.decide(seen) == decided


def test_a_fleet_may_go_to_zero_and_its_first_message_starts_a_task() -> None:
    """At rest it needs none, which is published as a half; one message, waiting or about to be sent, needs a task."""
    plan = dataclasses.replace(PLAN, min_tasks=0)
    assert plan.decide(reading(desired=1)) == Decision(need=0, scale_out_to=0, scale_in_to=0.5, backlog_per_task=0.0)
    assert plan.decide(reading(desired=0, running=0)) == Decision(
        need=0, scale_out_to=0, scale_in_to=0, backlog_per_task=0.0
    )
    assert plan.decide(reading(1, desired=0, running=0)).scale_out_to == 1  # (1 + 4 + 2 x 1) / 8
    assert plan.decide(reading(fast=1, desired=0, running=0)).scale_out_to == 2  # (5.6 + 4) / 8
    assert plan.decide(reading(desired=2, protected=1)).scale_in_to == 1
    covered = [(step.lower, step.upper, step.adjustment) for step in plan.steps[:3]]
    assert (plan.threshold, covered) == (0.5, [(0.0, 0.5, 0), (0.5, 1.5, 1), (1.5, 2.5, 2)])


@given(plan=plans, seen=readings)
def test_need_stays_within_quota_and_minimum(plan: ScalingPlan, seen: Reading) -> None:
    """However much waits, the need is a task count that the quota allows, and never under the minimum."""
    need = plan.decide(seen).need
    assert plan.min_tasks <= need <= plan.cap
    assert need * plan.concurrency * plan.max_inflight <= plan.quota_calls


@given(plan=plans, seen=readings, more=st.integers(1, 1_000))
def test_more_backlog_never_needs_fewer_tasks(plan: ScalingPlan, seen: Reading, more: int) -> None:
    """The need rises with what waits, with what is in flight, and with what the fast lane is about to send."""
    need = plan.decide(seen).need
    heavy = seen.heavy
    for busier in (
        seen._replace(heavy=LaneCounts(visible=heavy.visible + more, in_flight=heavy.in_flight)),
        seen._replace(heavy=LaneCounts(visible=heavy.visible, in_flight=heavy.in_flight + more)),
        seen._replace(fast=LaneCounts(visible=(seen.fast.visible if seen.fast else 0) + more, in_flight=0))
        if seen.fast is None or seen.fast.in_flight == 0
        else seen,
    ):
        assert plan.decide(busier).need >= need


@given(plan=plans, seen=readings)
def test_scale_in_keeps_every_protected_task(plan: ScalingPlan, seen: Reading) -> None:
    """Within the cap, the capacity asked for is never under min(protected, desired): new protection stays possible."""
    floor = min(seen.protected, seen.desired)
    assert plan.decide(seen).need >= min(floor, plan.cap)


@given(plan=plans, seen=readings)
def test_a_desired_count_under_busy_tasks_is_raised(plan: ScalingPlan, seen: Reading) -> None:
    """Unless a deployment runs, every protected task is asked for, as far as the cap allows."""
    need = plan.decide(seen._replace(deploying=False)).need
    assert need >= min(seen.protected, plan.cap)


@given(plan=plans, seen=readings)
def test_moving_a_message_into_flight_changes_nothing(plan: ScalingPlan, seen: Reading) -> None:
    """A message that starts is still work: only its place changes, so the need does not."""
    total = seen.heavy.total
    started = seen._replace(heavy=LaneCounts(visible=0, in_flight=total))
    assert plan.decide(started).need == plan.decide(seen).need


@given(plan=plans, seen=readings)
def test_at_most_one_direction_speaks(plan: ScalingPlan, seen: Reading) -> None:
    """Out, in, or neither, and what speaks is the need itself, or a half for no task, on the right side of desired."""
    decision = plan.decide(seen)
    assert 0 in (decision.scale_out_to, decision.scale_in_to)
    assert decision.scale_out_to in (0, decision.need)
    assert decision.scale_in_to in (0, decision.need or 0.5)
    assert (decision.scale_out_to > 0) == (decision.need > seen.desired)
    assert (decision.scale_in_to > 0) == (decision.need < seen.desired)
    assert math.isfinite(decision.backlog_per_task)


@given(plan=plans, seen=readings)
def test_need_is_a_level_of_the_ladder(plan: ScalingPlan, seen: Reading) -> None:
    """What is published is exactly what a step can set, so no value falls between two capacities."""
    assert plan.decide(seen).need in plan.levels


@given(plan=plans, seen=readings)
def test_equal_readings_decide_equally(plan: ScalingPlan, seen: Reading) -> None:
    """A decision depends on plan and reading alone, also after the plan travelled through an environment."""
    assert ScalingPlan.from_mapping(plan.to_mapping()).decide(seen) == plan.decide(seen)


def test_own_maximum_lowers_the_cap_and_never_raises_it() -> None:
    """The cap is the lower of what the quota allows (15) and what the team allows."""
    assert dataclasses.replace(PLAN, max_tasks=4).cap == 4
    assert dataclasses.replace(PLAN, max_tasks=40).cap == 15
