"""Workload files: what ships can be used, what cannot be used is one line, and what is drawn is what was asked for."""

from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest

from headway_ops.simulate.workload import WorkloadError, jobs_of, load_workload, shipped
from headway_ops.simulate.workload.loading import parse

#: Mean jobs of each, by arithmetic from rates and hours.
JOBS = {"burst": 200, "diurnal": 360, "overload": 312, "sawtooth": 240, "steady": 240, "trickle": 32}
STEADY = "[[phases]]\nminutes = 60\njobs_per_min = 1\n"


def test_six_workloads_ship() -> None:
    """The study's six, by name."""
    assert shipped() == sorted(JOBS)


@pytest.mark.parametrize(("name", "jobs"), JOBS.items())
def test_a_shipped_workload_draws_the_jobs_it_says(name: str, jobs: int) -> None:
    """Over twenty seeds the mean number of jobs is rate x time, and a job's calls are 4 blocks x 1.4."""
    drawn = [list(jobs_of(load_workload(name), seed)) for seed in range(20)]
    # Four standard errors of a Poisson mean, none for the burst that is counted.
    tolerance = 0 if name == "burst" else 4 * (jobs / 20) ** 0.5
    assert abs(fmean(len(run) for run in drawn) - jobs) <= tolerance
    calls = [len(block) for run in drawn for job in run for block in job.blocks]
    assert fmean(calls) == pytest.approx(1.4, abs=0.05)
    assert all(first.arrived <= second.arrived for run in drawn for first, second in pairwise(run))
    assert all(600 <= call <= 1_500 for run in drawn for job in run for block in job.blocks for call in block)


def test_a_wave_is_high_in_its_first_half() -> None:
    """The diurnal rate is mean + swing x sin: over half a wave its mean differs from the mean by 2/pi x swing."""
    halves = [0, 0]
    for seed in range(20):
        for job in jobs_of(load_workload("diurnal"), seed):
            halves[job.arrived > 360 * 60] += 1
    expected = [20 * 360 * (0.5 + sign * 0.475 * 2 / 3.14159) for sign in (1, -1)]
    assert halves == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[phases]]\nminutes = 60\njobs_per_min = -1\n", "w: phases[0].jobs_per_min = -1: must be 0..10000; set 0"),
        ("[[phases]]\nminutes = 0\njobs_per_min = 1\n", "w: phases[0].minutes = 0: must be 0.01..600000; set 0.01"),
        ("[[phases]]\nminutes = nan\n", "w: phases[0].minutes = nan: must be a number"),
        ("[[phases]]\nminutes = true\n", "w: phases[0].minutes = True: must be a number"),
        ("[[phases]]\njobs_per_min = 1\n", "w: phases[0].minutes: missing; say how long the phase lasts"),
        ("[[phases]]\nminutes = 1\njobs = 1.5\n", "w: phases[0].jobs = 1.5: must be a whole number"),
        ("[[phases]]\nminutes = 1\nrate = 1\n", "w: phases[0]: rate: unknown; known are "),
        ("[phases]\nminutes = 1\n", "w: phases: must be tables, [[phases]]"),
        ("", "w: phases: give [[phases]] or arrivals_csv, and not both"),
        ("colour = 1\n" + STEADY, "w: colour: unknown; known are "),
        ("repeat = 0\n" + STEADY, "w: repeat = 0: must be 1..10000; set 1"),
        ("drain_h = 'long'\n" + STEADY, "w: drain_h = 'long': must be a number"),
        (STEADY + "jobs = 3\n", "w: phases[0].jobs = 3: jobs_per_min is given too; keep one of them"),
        (STEADY + "peak_jobs_per_min = 3\n", "w: phases[0].peak_jobs_per_min = 3: must be jobs_per_min to twice it"),
        (STEADY + "[job]\ncall_s = [0, 10]\n", "w: job.call_s = 0: must be 0.001..39600; set 0.001"),
        (STEADY + "[job]\ncall_s = [20, 10]\n", "w: job.call_s = [20, 10]: must rise; swap them"),
        (STEADY + "[job]\ncall_s = 10\n", "w: job.call_s = 10: must be two numbers, lowest and highest"),
        (STEADY + "[job]\ncalls = { 1 = 0.5 }\n", "w: job.calls: the chances add up to 0.5; make it 1"),
        (STEADY + "[job]\ncalls = { none = 1.0 }\n", "w: job.calls = {'none': 1.0}: must map numbers of calls"),
        (STEADY + "[[deploys]]\nat_min = -5\n", "w: deploys[0].at_min = -5: must be 0..600000; set 0"),
        ("phases", "w: not TOML: "),
    ],
)
def test_what_cannot_be_used_is_one_line(text: str, says: str) -> None:
    """Field, value, bound and fix."""
    with pytest.raises(WorkloadError) as refused:
        parse("w", text, Path())
    assert str(refused.value).startswith(says)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("at\n5\n3\n", "day.csv: line 3: is before the line above it; sort the times"),
        ("at\n5\nlater\n", "day.csv: line 3: 'later': must be seconds, or ISO 8601 with a zone"),
        ("2026-11-29T08:00:00\n2026-11-29T09:00:00\n", "day.csv: line 2: "),
        ("", "day.csv: no arrival in it; one time a line"),
        (None, "day.csv: cannot be read: No such file or directory"),
    ],
)
def test_arrivals_that_cannot_be_used_are_one_line(rows: str | None, says: str, tmp_path: Path) -> None:
    """Unsorted, no time, no zone, empty, not there."""
    if rows is not None:
        (tmp_path / "day.csv").write_text(rows, encoding="utf-8")
    with pytest.raises(WorkloadError) as refused:
        parse("w", 'arrivals_csv = "day.csv"\n', tmp_path)
    assert str(refused.value).replace(f"{tmp_path}/", "").startswith(says)


@pytest.mark.parametrize(
    "rows",
    ["at\n10\n25.5\n", "2026-11-29T08:00:10Z,a\n2026-11-29T09:00:25.5+01:00,b\n"],
)
def test_a_day_is_replayed_from_its_first_job(rows: str, tmp_path: Path) -> None:
    """Seconds, or ISO 8601 in any zone, with a heading or without: 15.5 s after the first."""
    (tmp_path / "day.csv").write_text(rows, encoding="utf-8")
    day = parse("w", 'arrivals_csv = "day.csv"\n', tmp_path)
    assert [job.arrived for job in jobs_of(day, 1)] == [0, 15.5]


def test_calls_take_the_durations_of_the_log(tmp_path: Path) -> None:
    """Every drawn call is one of the log's latencies; lines that are no calls are passed over."""
    log = 'starting\n{"CallLatency": [700.5]}\n{"other": 1}\nts {"CallLatency": 901}\n'
    (tmp_path / "calls.log").write_text(log, encoding="utf-8")
    day = parse("w", 'calls_log = "calls.log"\n' + STEADY, tmp_path)
    assert {call for job in jobs_of(day, 1) for block in job.blocks for call in block} == {700.5, 901}
    (tmp_path / "calls.log").write_text("nothing\n", encoding="utf-8")
    with pytest.raises(WorkloadError, match=r"calls\.log: no call in it"):
        parse("w", 'calls_log = "calls.log"\n' + STEADY, tmp_path)


def test_a_workload_that_is_not_there_names_those_that_are() -> None:
    """A name that is neither shipped nor a file."""
    with pytest.raises(WorkloadError, match="no such file, and none of burst, diurnal"):
        load_workload("nope")
