"""A proposal keeps to what was asked, is near the cheapest, and reads as a change of stages.toml."""

import dataclasses
import itertools
import tomllib

import pytest

from headway_ops.costs import load_prices
from headway_ops.planning import Ask, Candidate, Scorer, diff, propose, quota_for
from headway_ops.simulate import SimulatedStage, simulate
from headway_ops.simulate.policies import headway
from headway_ops.simulate.workload import Phase, Workload, load_workload
from stacks.loading import load_stage

MORNING = Workload(name="morning", phases=(Phase(minutes=120, jobs_per_min=0.4),), drain_h=6)
ASK = Ask(max_wait_s=60, budget_usd=10_000)


def scorer(stage: SimulatedStage, *seeds: int) -> Scorer:
    """Return a scorer of the morning."""
    return Scorer(
        stage=stage, workload=MORNING, model=load_stage("prod").model, prices=load_prices(), seeds=seeds or (1, 2)
    )


def test_the_proposal_keeps_to_the_wait_and_is_near_the_cheapest(prod: SimulatedStage) -> None:
    """Fed back into the simulator: within 10% of the wait, and of the cheapest that a small grid holds."""
    scored = scorer(prod)
    best = propose(scored, ASK)
    stage = best.candidate.applied_to(prod)
    runs = [simulate(MORNING, headway(stage), quota=120, seed=seed) for seed in (1, 2)]
    assert sum(run.heavy_wait_p95_s for run in runs) / 2 <= 1.1 * ASK.max_wait_s
    grid = [
        dataclasses.replace(
            Candidate.of(prod), concurrency=slots, spare_slots=spare, burst_beta=beta, publish_every_s=every
        )
        for slots, spare, beta, every in itertools.product((4, 8, 16), (0.0, 4.0, 12.0), (0.0, 1.0), (10, 60))
    ]
    cheapest = min(candidate.month_usd for candidate in map(scored.score, grid) if candidate.meets(ASK))
    assert best.month_usd <= 1.1 * cheapest


def test_a_proposal_reads_as_a_change_of_the_settings(prod: SimulatedStage) -> None:
    """Only what changes, table by table; the new lines are TOML with the values that were proposed."""
    other = dataclasses.replace(Candidate.of(prod), concurrency=16, spare_slots=9.0, publish_every_s=60)
    text = diff(prod, other)
    assert "-spare_slots = 8.0\n+spare_slots = 9.0\n" in text
    document = "\n".join(line[1:] for line in text.splitlines() if line[0] in " +")
    table = tomllib.loads(document)["stages"]["prod"]
    assert table["services"]["heavy"] == {"concurrency": 16, "cpu_units": 2_048, "memory_mib": 8_192}
    assert table["scaling"] == {"spare_slots": 9.0, "publish_every_s": 60, "in_periods": 2}
    assert diff(prod, Candidate.of(prod)) == ""


def test_no_candidate_leaves_the_quota(prod: SimulatedStage) -> None:
    """Every neighbour's fleet, at its cap, keeps within the quota, and its minimum within its cap."""
    for candidate in Candidate.of(prod).neighbours(120):
        plan = candidate.applied_to(prod).scaling.plan
        assert plan.min_tasks <= plan.cap
        assert plan.cap * plan.concurrency * plan.max_inflight <= 120


def test_the_quota_is_named_where_it_is_the_limit(prod: SimulatedStage) -> None:
    """200 jobs at once are about 1,120 calls: no wait needs a place for each of them, the stage's quota none of it."""
    burst = load_workload("burst")
    needed = quota_for(prod, burst, 1.0)
    assert needed is not None
    assert 900 < needed < 1_250
    assert quota_for(prod, load_workload("trickle"), 60.0) is None


def test_a_candidate_over_budget_is_no_answer(prod: SimulatedStage) -> None:
    """A dollar a month buys nothing: the proposal says so."""
    broke = Ask(max_wait_s=60, budget_usd=1)
    assert not propose(scorer(prod, 1), broke).meets(broke)


@pytest.mark.parametrize(("wait_s", "usd", "better"), [(50, 100, True), (70, 50, False), (50, 20_000, False)])
def test_what_meets_the_ask_ranks_before_what_does_not(
    prod: SimulatedStage, wait_s: float, usd: float, better: bool
) -> None:
    """Against 60 s at 500 dollars: cheaper within the wait ranks first, cheaper beyond it and over budget do not."""
    known = scorer(prod, 1).score(Candidate.of(prod))
    base = dataclasses.replace(known, wait_s=60, month_usd=500, saturated=False)
    other = dataclasses.replace(base, wait_s=wait_s, month_usd=usd)
    assert (other.rank(ASK) < base.rank(ASK)) == better
