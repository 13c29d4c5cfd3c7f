"""The report's verdict says what the figures say."""

import dataclasses

import pytest

from headway_ops.simulate import Outcome, SimulatedStage, simulate, stage_from
from headway_ops.simulate.assembly import read
from headway_ops.simulate.policies import clairvoyant, headway, peers
from headway_ops.simulate.reporting import report, verdict
from headway_ops.simulate.workload import load_workload
from stacks.loading import load_stage
from tests.synth import synthesize, varied


@pytest.fixture(scope="module")
def runs(prod: SimulatedStage) -> tuple[Outcome, list[Outcome], Outcome]:
    """Our own, two peers' and the bound's run of the burst."""
    burst = load_workload("burst")
    others = [policy for policy in peers(prod) if policy.name in ("classic", "formula")]
    ours, *rest, bound = (
        simulate(burst, policy, quota=120, seed=1) for policy in (headway(prod), *others, clairvoyant(prod))
    )
    return ours, rest, bound


def test_a_burst_that_the_quota_limits_is_said_to_be(runs: tuple[Outcome, list[Outcome], Outcome]) -> None:
    """Where the clairvoyant waits as long, the fleet is not to blame; a policy that failed jobs is no rival."""
    said = verdict("prod", *runs)
    assert said.startswith("Under burst, prod finished 200 of 200 jobs in 2.9 hours.")
    assert "The quota is the limit, not the fleet" in said
    assert "At most 120 of 120 calls were in flight, never more than the quota." in said
    assert "Of the other policies classic came nearest" in said


def test_a_saturated_run_is_said_to_be(runs: tuple[Outcome, list[Outcome], Outcome]) -> None:
    """Saturation, calls beyond the quota and lost work are named."""
    ours, others, bound = runs
    bad = dataclasses.replace(ours, saturated=True, over_quota=3, busy_stops=2, lost=5)
    said = verdict("prod", bad, others, bound)
    assert "The stage was saturated" in said
    assert "3 times beyond the quota" in said
    assert "2 tasks were stopped at work, and 5 messages began again." in said


def test_the_report_shows_every_policy_and_seven_charts(runs: tuple[Outcome, list[Outcome], Outcome]) -> None:
    """Waits, backlog, tasks, calls, cost, and two comparisons; the table has a row for each run."""
    page = report("prod", *runs)
    assert len(page.charts) == 7
    assert [row[0] for row in page.summary.rows] == ["headway", "formula", "classic", "clairvoyant"]
    assert page.summary.rows[3][5] == "1.00"


def test_one_changed_number_of_the_settings_changes_the_report() -> None:
    """With half the quota in the settings the report's quota is half."""
    halved = synthesize(varied(load_stage("prod"), model__quota_calls=60))
    stage = stage_from("prod", read(halved.folder))
    trickle = load_workload("trickle")
    ours, bound = (simulate(trickle, p, quota=stage.quota_calls, seed=1) for p in (headway(stage), clairvoyant(stage)))
    assert "of 60 calls were in flight" in report("prod", ours, [], bound).verdict
