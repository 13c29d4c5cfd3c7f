"""The loop as a whole: datapoints in, desired counts out, on a clock that the test moves."""

import dataclasses

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headway.scaling import ScalingPlan
from headway_ops.loop import (
    Adjustment,
    AlarmSpec,
    ControlLoop,
    Event,
    MetricKey,
    StepPolicy,
    Target,
    TreatMissing,
    series,
)

OUT, IN = MetricKey("Headway", "ScaleOutTo"), MetricKey("Headway", "ScaleInTo")
SERVICE = "cluster/heavy"
PLAN = ScalingPlan(
    concurrency=4, max_inflight=1, quota_calls=40, min_tasks=1, calls_per_job=0, spare_slots=0, burst_beta=0
)


def alarm(name: str, metric: MetricKey, *, periods: int, action: str) -> AlarmSpec:
    """An alarm on a published level of one or more."""
    return AlarmSpec(
        name=name,
        metric=metric,
        comparison="GreaterThanOrEqualToThreshold",
        threshold=1,
        period_s=10,
        evaluation_periods=periods,
        datapoints_to_alarm=periods,
        treat_missing=TreatMissing.NOT_BREACHING,
        statistic="Maximum",
        actions=(action,),
    )


def stage() -> ControlLoop:
    """A service of one task under both ExactCapacity policies."""
    loop = ControlLoop()
    loop.add_target(SERVICE, Target(min_capacity=1, max_capacity=PLAN.cap))
    for name in ("out", "in"):
        policy = StepPolicy(adjustment=Adjustment.EXACT, steps=PLAN.steps, cooldown_s=0)
        loop.add_policy(name, SERVICE, policy)
    loop.add_alarm(alarm("scale-out", OUT, periods=1, action="out"))
    loop.add_alarm(alarm("scale-in", IN, periods=3, action="in"))
    return loop


def publish(loop: ControlLoop, at: float, *, out: float = 0, in_: float = 0) -> None:
    """One beat of the publisher, evaluated when its period is over."""
    loop.put(OUT, out, at)
    loop.put(IN, in_, at)
    loop.step(at + 5)


def test_a_published_need_becomes_the_desired_count_one_period_later() -> None:
    """A level of 6 published at 3 s is acted on when its 10 s period ends, not before."""
    loop = stage()
    loop.put(OUT, 6, 3)
    loop.step(9)
    assert loop.desired[SERVICE] == 1
    events = loop.step(10)
    assert loop.desired[SERVICE] == 6
    assert [(e.kind, e.before, e.after) for e in events if e.kind == "scale-out"] == [("scale-out", "1", "6")]


def test_scale_in_needs_three_lows_in_a_row() -> None:
    """Counts may be stale for a minute: two lows and a zero do nothing, the third low in a row scales in."""
    loop = stage()
    loop.desired[SERVICE] = 8
    for n, level in enumerate([2, 2, 0, 2, 2]):
        publish(loop, 5 + n * 10, in_=level)
    assert loop.desired[SERVICE] == 8
    publish(loop, 55, in_=2)
    loop.step(61)
    assert loop.desired[SERVICE] == 2


def test_a_silent_publisher_never_scales_in() -> None:
    """With no datapoint at all for ten minutes the desired count stays as it was."""
    loop = stage()
    loop.desired[SERVICE] = 8
    publish(loop, 5, in_=2)
    for now in range(20, 600, 10):
        loop.step(now)
    assert loop.desired[SERVICE] == 8


def test_an_alarm_that_stays_on_acts_again_once_a_minute() -> None:
    """A level that rises while the alarm is on already is acted on at the next minute's re-invocation."""
    loop = stage()
    changes = []
    for n in range(12):
        loop.put(OUT, 4 if n < 2 else 9, n * 10 + 5)
        changes += [(e.at, e.after) for e in loop.step(n * 10 + 10) if e.kind == "scale-out"]
    assert changes == [(10, "4"), (70, "9")]


def test_nothing_scales_in_while_a_deployment_runs() -> None:
    """The guide: scale-in is off until the deployment has completed, and scale-out goes on."""
    loop = stage()
    loop.desired[SERVICE], loop.deploying = 6, {SERVICE}
    for n in range(4):
        publish(loop, 5 + n * 10, in_=2)
    assert loop.desired[SERVICE] == 6
    publish(loop, 45, out=8)
    loop.step(51)
    assert loop.desired[SERVICE] == 8
    loop.deploying = set()
    for n in range(5, 12):
        publish(loop, 5 + n * 10, in_=2)
    assert loop.desired[SERVICE] == 2


def test_an_alarm_looks_at_its_own_dimensions_only() -> None:
    """Another stage's datapoint under the same name is another metric."""
    loop = stage()
    loop.put(MetricKey("Headway", "ScaleOutTo", frozenset({("Stage", "other")})), 9, 3)
    loop.step(10)
    assert loop.desired[SERVICE] == 1


def test_the_desired_count_keeps_to_the_targets_bounds() -> None:
    """A level above the cap sets the cap."""
    loop = stage()
    loop.put(OUT, 99, 3)
    loop.step(10)
    assert loop.desired[SERVICE] == PLAN.cap == 10


NOTHING, BREACH = (0.0, 0.0, 0), (0.0, 2.0, 0)


@given(
    beats=st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.0, 0.0, 3.0, 7.0]),
            st.sampled_from([0.0, 0.0, 2.0]),
            st.sampled_from([0, 0, 0, 15, 25]),
        )
    ),
    jitter=st.floats(0, 9),
    statistic=st.sampled_from(["Maximum", "Minimum", "Average", "Sum"]),
    missing=st.sampled_from(list(TreatMissing)),
    to_alarm=st.integers(1, 3),
)
@example(  # 53, 73 and 83 s breach and alarm; what breached at 38 s came late, after 53, and is out of the range
    beats=[*[NOTHING] * 5, BREACH, (0.0, 0.0, 25), BREACH, BREACH],
    jitter=3,
    statistic="Maximum",
    missing=TreatMissing.NOT_BREACHING,
    to_alarm=3,
)
@example(  # 33, 48 and 53 s alarm: 48 came late, and the newest period has no value
    beats=[*[NOTHING] * 3, BREACH, NOTHING, BREACH, (0.0, 0.0, 15)],
    jitter=3,
    statistic="Maximum",
    missing=TreatMissing.NOT_BREACHING,
    to_alarm=3,
)
@example(  # one of three alarms: 38 s, which came late, although 53 s, the newest, is calm
    beats=[*[NOTHING] * 5, (0.0, 0.0, 15)],
    jitter=3,
    statistic="Maximum",
    missing=TreatMissing.NOT_BREACHING,
    to_alarm=1,
)
def test_passing_over_quiet_alarms_changes_nothing(
    beats: list[tuple[float, float, int]], jitter: float, statistic: str, missing: TreatMissing, to_alarm: int
) -> None:
    """A loop that evaluates every alarm each time does the same as one that passes over those that must stay OK.

    A beat has a value of each metric, and now and then one more that breaches and comes some seconds late.
    """

    def run(*, all_evaluated: bool) -> list[Event]:
        loop = stage()
        for spec in (alarm("scale-out", OUT, periods=1, action="out"), alarm("scale-in", IN, periods=3, action="in")):
            needed = min(to_alarm, spec.evaluation_periods)
            watched = dataclasses.replace(spec, statistic=statistic, treat_missing=missing, datapoints_to_alarm=needed)
            loop.add_alarm(watched)
        events: list[Event] = []
        with pytest.MonkeyPatch.context() as patch:
            if all_evaluated:
                patch.setattr(series.Watch, "quiet", lambda self, boundary: False)
            for n, (out, in_, late_s) in enumerate(beats):
                now = n * 10 + jitter
                if late_s:
                    loop.put(IN, 2, now - late_s)
                if n % 7 != 6:  # a beat is missed now and then
                    loop.put(OUT, out, now)
                    loop.put(IN, in_, now)
                events += loop.step(n * 10 + 11)
        return events

    assert run(all_evaluated=False) == run(all_evaluated=True)
