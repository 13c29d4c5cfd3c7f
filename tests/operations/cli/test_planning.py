"""``headway plan``, ``ramp`` and ``cost``."""

import json
from pathlib import Path

import pytest

from tests.operations.cli.running import headway
from tests.synth import stage


def assembly() -> str:
    """Return a cdk.out with the prod stage, synthesized once a test run."""
    return str(stage("prod").folder.parent)


def write_log(path: Path, *, calls: int, limited: int) -> None:
    """Write metric lines of calls, the first ``limited`` of which met a 429."""
    lines = [{"CallLatency": [900], "CallsRateLimited": [int(n < limited)]} for n in range(calls)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_plan_proposes_a_change_with_what_it_costs_and_waits(tmp_path: Path) -> None:
    """A small day within five minutes: a change on stdout, and a table of choices."""
    day = tmp_path / "day.toml"
    day.write_text("[[phases]]\nminutes = 60\njobs_per_min = 0.3\n", encoding="utf-8")
    done = headway(
        "plan", "--stage", "prod", "--workload", "day.toml", "--max-wait", "5m", "--budget", "2000",
        "--assembly", assembly(), state=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert " [stages.prod." in done.stdout
    assert "wait p95" in done.stdout


def test_plan_says_when_the_quota_is_the_limit(tmp_path: Path) -> None:
    """A burst within a minute: exit 1, and about how many calls in flight it takes."""
    day = tmp_path / "day.toml"
    day.write_text("[[phases]]\nminutes = 1\njobs = 60\n", encoding="utf-8")
    arguments = ("--workload", "day.toml", "--max-wait", "1m", "--assembly", assembly(), "--json")
    done = headway("plan", *arguments, state=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("headway: the quota is the limit, not the fleet: with 120 calls in flight no fleet")
    assert 250 < json.loads(done.stdout)["quota_needed"] < 420


def test_ramp_says_yes_or_why_not(tmp_path: Path) -> None:
    """Prod's cap times two passes its quota, so it is told to keep 1; exit 1 is a finding, not an error."""
    write_log(tmp_path / "calls.log", calls=100, limited=3)
    done = headway("ramp", "calls.log", "--stage", "prod", state=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "keep max_inflight = 1: 3.00% of the calls met a 429" in done.stdout
    told = headway("ramp", "calls.log", "--stage", "prod", "--json", state=tmp_path)
    assert json.loads(told.stdout)["budget"] == 240


def test_cost_prints_low_expected_and_high(tmp_path: Path) -> None:
    """Every line of the bill, and the date of its prices."""
    done = headway("cost", "--stage", "prod", "--workload", "steady", "--assembly", assembly(), state=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "prices as of 2026-03-10" in done.stdout
    assert all(line in done.stdout for line in ("heavy tasks", "publisher", "CloudWatch", "SQS requests", "total"))
    told = headway("cost", "--workload", "trickle", "--assembly", assembly(), "--json", state=tmp_path)
    total = json.loads(told.stdout)["total"]
    assert total["low"] < total["expected"] < total["high"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["plan", "--max-wait", "soon"], "max-wait = 'soon': must be a duration above 0 as 30s, 5m or 1h; set 5m"),
        (["plan", "--max-wait", "0s"], "max-wait = '0s': must be a duration above 0 as 30s, 5m or 1h; set 5m"),
        (["ramp", "nowhere.log"], "nowhere.log: cannot be read: No such file or directory"),
        (["cost", "--prices", "nowhere.toml"], "nowhere.toml: cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_used_is_one_line(arguments: list[str], says: str, tmp_path: Path) -> None:
    """Exit 3, one line, nothing on stdout."""
    done = headway(*arguments, state=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", f"headway: {says}\n")
