"""A run as a whole: it repeats, nothing is lost or counted twice, and what must never happen does not."""

import dataclasses
import math

from hypothesis import given, settings
from hypothesis import strategies as st

from headway_ops.simulate import Conditions, Outcome, SimulatedStage, simulate
from headway_ops.simulate.policies import Policy, headway, peers
from headway_ops.simulate.variation import varied
from headway_ops.simulate.workload import Deploy, JobShape, Phase, Workload, load_workload

workloads = st.builds(
    Workload,
    name=st.just("drawn"),
    phases=st.lists(
        st.one_of(
            st.builds(Phase, minutes=st.floats(1, 60), jobs_per_min=st.floats(0, 2)),
            st.builds(Phase, minutes=st.floats(1, 10), jobs=st.integers(1, 60)),
        ),
        min_size=1,
        max_size=4,
    ).map(tuple),
    job=st.builds(
        JobShape,
        fast_s=st.just((0.5, 8.0)),
        blocks=st.tuples(st.integers(1, 3), st.integers(3, 8)),
        call_s=st.tuples(st.floats(1, 100), st.floats(100, 2_000)),
    ),
)
deploys = st.lists(st.builds(Deploy, at_min=st.floats(0, 120)), min_size=1, max_size=2).map(tuple)
conditions = st.builds(
    Conditions,
    task_start_s=st.tuples(st.floats(0, 30), st.floats(30, 300)),
    count_lag_s=st.tuples(st.just(0.0), st.floats(0, 60)),
    stale_chance=st.floats(0, 0.3),
)


def test_the_same_seed_runs_event_by_event_the_same(prod: SimulatedStage) -> None:
    """Equal seeds leave equal hashes over every event and equal figures; another seed leaves others."""
    burst = load_workload("burst")

    def run(seed: int) -> dict[str, object]:
        return simulate(burst, headway(prod), quota=prod.quota_calls, seed=seed, traced=True).figures()

    first = run(1)
    assert run(1) == first
    assert run(2)["trace"] != first["trace"]


def test_another_process_runs_the_same(prod: SimulatedStage) -> None:
    """Also where tasks are killed at work: no order depends on where objects lie in memory, or on a hash's seed."""
    formula = next(policy for policy in peers(prod) if policy.name == "formula")
    here = simulate(load_workload("burst"), formula, quota=120, seed=1, traced=True)
    assert here.lost > 0
    kept = [bytearray(1_000 + n) for n in range(1_000)]  # other addresses than before
    again = simulate(load_workload("burst"), formula, quota=120, seed=1, traced=True)
    assert (again.trace, again.lost) == (here.trace, here.lost)
    assert len(kept) == 1_000


def test_watching_changes_nothing(prod: SimulatedStage) -> None:
    """A traced run and a sampled one come to the same figures as one that is neither."""
    trickle = load_workload("trickle")
    plain = simulate(trickle, headway(prod), quota=120, seed=1).figures()
    traced = simulate(trickle, headway(prod), quota=120, seed=1, traced=True).figures()
    sampled = simulate(trickle, headway(prod), quota=120, seed=1, sampled=True).figures()
    assert {**plain, "trace": traced["trace"]} == traced
    assert {**plain, "events": sampled["events"]} == sampled


def test_only_relative_steps_depend_on_the_count_they_start_from(prod: SimulatedStage) -> None:
    """Exact capacities run event by event the same from the running count; added ones grow slower while tasks start."""
    burst, running = load_workload("burst"), Conditions(scales_from_running=True, task_start_s=(90.0, 90.0))
    desired = dataclasses.replace(running, scales_from_running=False)
    classic = next(policy for policy in peers(prod) if policy.name == "classic")

    def run(policy: Policy, weather: Conditions) -> Outcome:
        return simulate(burst, policy, quota=120, seed=1, conditions=weather, traced=True)

    def full(outcome: Outcome) -> float:
        return next(at for at, kind, count in outcome.changes if kind == "desired" and int(count) == outcome.peak_tasks)

    assert run(headway(prod), running).trace == run(headway(prod), desired).trace
    assert full(run(classic, running)) > full(run(classic, desired))


@settings(max_examples=25)
@given(workload=workloads, weather=conditions, seed=st.integers(0, 1_000))
def test_nothing_is_lost_and_nothing_goes_over(
    prod: SimulatedStage, workload: Workload, weather: Conditions, seed: int
) -> None:
    """Whatever comes, also while the counts are stale.

    Every job that came is done; the calls in flight never pass the quota, and none meets a 429; no task is stopped by
    a scale-in while it works, no fewer tasks are desired than work, and nothing is handed to the dead letters; tasks
    were there for every call.
    """
    outcome = simulate(workload, headway(prod), quota=prod.quota_calls, seed=seed, conditions=weather)
    assert (outcome.jobs_finished, outcome.jobs_failed, outcome.saturated) == (outcome.jobs, 0, False)
    assert outcome.peak_in_flight <= prod.quota_calls
    assert (outcome.over_quota, outcome.rate_limited) == (0, 0)
    assert (outcome.busy_stops, outcome.lost, outcome.dead_letters) == (0, 0, 0)
    assert outcome.under_busy_s == 0
    assert outcome.task_h * prod.heavy.concurrency >= outcome.call_h


@settings(max_examples=15)
@given(workload=workloads, rollouts=deploys, seed=st.integers(0, 1_000))
def test_a_deploy_stops_no_work_and_keeps_within_the_quota(
    prod: SimulatedStage, workload: Workload, rollouts: tuple[Deploy, ...], seed: int
) -> None:
    """Old and new tasks run side by side, and their calls together keep within the quota; nothing is stopped at work.

    While more tasks are protected than desired, ECS refuses new protection: new tasks wait without a message in hand,
    so that every job is done and none of its messages ends among the dead letters.
    """
    outcome = simulate(dataclasses.replace(workload, deploys=rollouts), headway(prod), quota=120, seed=seed)
    assert (outcome.busy_stops, outcome.lost) == (0, 0)
    assert (outcome.over_quota, outcome.rate_limited) == (0, 0)
    assert (outcome.jobs_finished, outcome.jobs_failed, outcome.dead_letters) == (outcome.jobs, 0, 0)


@settings(max_examples=8)
@given(workload=workloads, seed=st.integers(0, 1_000))
def test_equal_seeds_bring_equal_work_to_every_policy(prod: SimulatedStage, workload: Workload, seed: int) -> None:
    """A slower publisher meets the same jobs and the same calls, to the second."""
    slow = dataclasses.replace(prod, scaling=dataclasses.replace(prod.scaling, publish_every_s=60))
    here = simulate(workload, headway(prod), quota=120, seed=seed)
    there = simulate(workload, headway(slow), quota=120, seed=seed)
    assert here.jobs == there.jobs
    assert abs(here.call_h - there.call_h) < 1e-6


def test_a_fleet_that_went_to_zero_starts_within_one_publish(prod: SimulatedStage) -> None:
    """Counts are true here: the first message is read within 10 s, acted on within 3 s, and a task starts in 30 to 90.

    Every job is done, at rest there is no task, and the trickle costs less than with one task that always stands by.
    """
    none = varied(prod, plan=dataclasses.replace(prod.scaling.plan, min_tasks=0))
    exact = Conditions(count_lag_s=(0.0, 0.0), stale_chance=0.0)
    trickle = load_workload("trickle")
    outcome = simulate(trickle, headway(none), quota=120, seed=1, conditions=exact)
    assert outcome.first_change_s is not None
    assert outcome.first_change_s <= 13
    assert (outcome.jobs_finished, outcome.lost, outcome.under_busy_s) == (outcome.jobs, 0, 0)
    assert ("desired", "0") in [(kind, value) for _, kind, value in outcome.changes]
    assert outcome.heavy_wait_max_s < 13 + 90 + 10
    assert outcome.task_h < simulate(trickle, headway(prod), quota=120, seed=1, conditions=exact).task_h


def test_a_task_that_receives_nothing_for_a_while_empties(prod: SimulatedStage) -> None:
    """Equal days cost 2% less, or the polls do not pack: without it they cost 5% more, and still no job is lost."""
    never = dataclasses.replace(prod, heavy=dataclasses.replace(prod.heavy, lazy_after_s=math.inf))
    steady = load_workload("steady")
    packed, spread = (
        [simulate(steady, headway(each), quota=120, seed=seed) for seed in range(6)] for each in (prod, never)
    )
    assert sum(run.task_h for run in packed) < 0.98 * sum(run.task_h for run in spread)
    assert [run.jobs_finished for run in packed] == [run.jobs for run in spread]


def test_a_saturated_run_ends_and_says_so(prod: SimulatedStage) -> None:
    """Ten jobs a minute are 980 calls of 17.5 min at once for a quota of 120: the run ends when its drain does."""
    flood = Workload(name="flood", phases=(Phase(minutes=60, jobs_per_min=10),), drain_h=1)
    outcome = simulate(flood, headway(prod), quota=prod.quota_calls, seed=1)
    assert outcome.saturated
    assert outcome.hours == 2
    assert outcome.findings[0].startswith("saturated: ")


def test_protection_is_renewed_also_where_that_was_due_while_idle(prod: SimulatedStage) -> None:
    """A protection of a minute over calls of seconds and of ten minutes: it has never lapsed where a call runs."""
    alone = varied(prod, plan=dataclasses.replace(prod.scaling.plan, spare_slots=0, burst_beta=0, max_tasks=1))
    brief = dataclasses.replace(alone, heavy=dataclasses.replace(alone.heavy, protection_s=60.0))
    mixed = JobShape(blocks=(1, 1), calls=((1, 1.0),), recorded_call_s=(5.0, 20.0, 35.0, 600.0))
    day = Workload(name="brief", phases=(Phase(minutes=8 * 60, jobs_per_min=0.3),), job=mixed)
    runs = (simulate(day, headway(brief), quota=120, seed=seed, sampled=True) for seed in range(9))
    samples = [sample for run in runs for sample in run.samples]
    assert [sample for sample in samples if sample.calls and not sample.protected] == []
