"""Peers and bounds behave as their documentation says, on the same jobs as Headway."""

import math

import pytest

from headway.scaling import LaneCounts, Reading
from headway_ops.loop import Target
from headway_ops.simulate import SimulatedStage, simulate
from headway_ops.simulate.policies import Policy, clairvoyant, headway, oracle, peers
from headway_ops.simulate.policies.direct import Computed, messages_per_task
from headway_ops.simulate.policies.tracking import Both, Tracked, Tracking
from headway_ops.simulate.workload import JobShape, Phase, Workload, load_workload

BOUNDS = Target(min_capacity=1, max_capacity=15)


def reading(visible: int = 0, in_flight: int = 0, *, running: int = 1) -> Reading:
    """Return a reading of the heavy lane."""
    heavy = LaneCounts(visible=visible, in_flight=in_flight)
    return Reading(heavy=heavy, fast=None, running=running, desired=running, protected=0)


def decided(controller: Tracked | Both, values: list[float], desired: int) -> list[int]:
    """Show one CPU value a minute; return the desired count after each."""
    counts = []
    for minute, value in enumerate(values):
        controller.look(reading(), value, minute * 60)
        desired = controller.decide(minute * 60, desired)
        counts.append(desired)
    return counts


def cpu(target: float, **cooldowns: float) -> Tracked:
    """Track the CPU."""
    return Tracked(Tracking(metric=lambda _, cpu: cpu, target=target, bounds=BOUNDS, **cooldowns))


def test_target_tracking_scales_out_after_three_minutes_in_proportion() -> None:
    """At 75% against a target of 50, two tasks become three in the third minute: 2 x 75 / 50."""
    assert decided(cpu(50), [75, 75, 75, 75], 2) == [2, 2, 3, 3]


def test_target_tracking_scales_in_after_fifteen_minutes_below_nine_tenths() -> None:
    """At 20% against 50, five tasks become two after fifteen minutes; at 46% they stay, for 45 is the edge."""
    assert decided(cpu(50), [20] * 15, 5) == [5] * 14 + [2]
    assert decided(cpu(50), [46] * 30, 5) == [5] * 30


def test_the_cpu_of_waiting_work_never_meets_its_target() -> None:
    """Workers that wait for a model peak at 57%: a target of 70% leaves one task as it is, for ever."""
    assert decided(cpu(70), [57] * 600, 1) == [1] * 600


def test_two_policies_scale_in_only_where_both_agree() -> None:
    """One asks for two tasks, the other for five: five."""
    both = Both(cpu(50), cpu(10))
    assert decided(both, [20] * 15, 5)[-1] >= 5


def test_a_formula_is_held_down_for_its_window_only() -> None:
    """KEDA's autoscaler goes out at once, and in to the highest of the last 300 s."""
    computed = Computed(messages_per_task(lambda r: r.heavy.total, 5, 15), down_s=300)
    seen = []
    desired = 1
    for now, messages in [(0, 50), (30, 10), (299, 10), (330, 10)]:
        computed.look(reading(messages), 0, now)
        desired = computed.decide(now, desired)
        seen.append(desired)
    assert seen == [10, 10, 10, 2]


def test_the_clairvoyant_bound_waits_as_its_queue_does(prod: SimulatedStage) -> None:
    """360 calls of exactly 1,000 s that come within a second, 120 at a time: the last third waits 2,000 s."""
    jobs = Workload(
        name="batch",
        arrivals_s=tuple(i / 360 for i in range(360)),
        job=JobShape(fast_s=(1, 1), blocks=(1, 1), calls=((1, 1.0),), call_s=(1_000, 1_000)),
    )
    bound = simulate(jobs, clairvoyant(prod), quota=120, seed=1)
    assert bound.heavy_wait_max_s == pytest.approx(2_000, abs=1)
    assert bound.makespan_max_s == pytest.approx(3_001, abs=1)
    assert bound.call_h == pytest.approx(100)
    assert bound.peak_in_flight == 120


def policies(stage: SimulatedStage) -> list[Policy]:
    """Return every policy there is."""
    return [clairvoyant(stage), oracle(stage), headway(stage), *peers(stage)]


@pytest.mark.parametrize("index", range(9))
def test_every_policy_ends_a_small_day_with_its_jobs_accounted_for(prod: SimulatedStage, index: int) -> None:
    """Done, failed, or still open where the run says that it was saturated; and never less work than the jobs had."""
    day = Workload(name="day", phases=(Phase(minutes=60, jobs_per_min=0.5),), drain_h=6)
    policy = policies(prod)[index]
    outcome = simulate(day, policy, quota=120, seed=3)
    still_open = outcome.jobs - outcome.jobs_finished - outcome.jobs_failed
    assert outcome.saturated == (still_open > 0)
    assert outcome.peak_in_flight <= 120
    assert math.isfinite(outcome.task_h)


def test_no_policy_beats_the_bound(prod: SimulatedStage) -> None:
    """On a burst nobody is done before the clairvoyant; the oracle, and Headway, are within 2% of it."""
    burst = load_workload("burst")
    bound, ideal, ours, *others = (simulate(burst, p, quota=120, seed=2) for p in policies(prod))
    done = [outcome for outcome in (ideal, ours, *others) if not (outcome.saturated or outcome.jobs_failed)]
    assert all(outcome.makespan_p95_s >= bound.makespan_p95_s - 2 for outcome in done)
    assert ideal.makespan_p95_s <= ours.makespan_p95_s <= 1.02 * bound.makespan_p95_s


def test_the_common_formula_runs_into_the_quota_and_reaps_its_own(prod: SimulatedStage) -> None:
    """Untied to the quota it meets 429s that fail jobs, and each message's end unprotects its siblings' work."""
    formula = next(policy for policy in peers(prod) if policy.name == "formula")
    outcome = simulate(load_workload("burst"), formula, quota=120, seed=1)
    assert outcome.rate_limited > 1_000
    assert outcome.jobs_failed > 100
    assert outcome.busy_stops > 0
