"""The demo's verdict."""

import dataclasses
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from headway.jobs.states import JobStatus, StepStatus
from headway.jobs.tallies import Tally
from headway.jobs.views import BlockView, JobSummary, JobView, StepView
from headway_ops.demo.checking import Verdict, check
from headway_ops.demo.drawings import Drawing, Truth
from headway_ops.demo.film import Film
from headway_ops.demo.report import Report, busy_stops, task_peaks
from headway_ops.local.observe import FleetView, LaneView, Snapshot

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DRAWING = Drawing(name="a.png", data=b"", blocks=(Truth(bars=3, openings=1), Truth(bars=5, openings=0)))
GOOD = Report(
    jobs=20,
    jobs_succeeded=20,
    steps=100,
    steps_wrong=0,
    steps_lost=0,
    model_calls=100,
    steps_called_twice=0,
    samples=1_000,
    samples_over_quota=0,
    peak_in_flight=24,
    quota=24,
    peak_tasks=6,
    final_tasks=1,
    busy_tasks_stopped=0,
    fast_wait_p95_s=5,
    fast_wait_p95_wall_s=0.1,
    heavy_wait_p95_s=500,
    heavy_wait_p95_wall_s=8,
    deploy_s=3,
    wall_s=80,
    peak_memory_mib=2_000,
    speed=60,
)


def view(*counts: tuple[int, int], status: StepStatus = StepStatus.SUCCEEDED) -> JobView:
    """A job of one block for each (bars, openings)."""

    def step(name: str, number: int) -> StepView:
        return StepView(
            id=uuid4(),
            check_name=name,
            status=status,
            attempt=1,
            result={"count": number},
            reason=None,
            created_at=NOW,
            started_at=NOW,
            finished_at=NOW,
        )

    blocks = tuple(
        BlockView(
            number=n, page=1, box=(0, 0, 1, 1), image_key="", steps=(step("bars", bars), step("openings", openings))
        )
        for n, (bars, openings) in enumerate(counts, start=1)
    )
    summary = JobSummary(
        id=uuid4(),
        name="a.png",
        status=JobStatus.SUCCEEDED,
        reason=None,
        created_at=NOW,
        started_at=NOW,
        finished_at=NOW,
    )
    return JobView(summary=summary, blocks=blocks)


@pytest.mark.parametrize(
    ("views", "wrong", "lost"),
    [
        ([view((3, 1), (5, 0))], 0, 0),
        ([view((3, 1), (4, 0))], 1, 0),
        ([view((3, 1))], 0, 2),
        ([view((3, 1), (5, 0), (7, 0))], 2, 0),
        ([view((3, 1), (5, 0), status=StepStatus.FAILED)], 0, 4),
        ([], 0, 4),
    ],
)
def test_results_are_held_against_the_drawing(views: list[JobView], wrong: int, lost: int) -> None:
    """A wrong count and a block too many are wrong; a step that is missing, failed or has no job is lost."""
    assert check({"a.png": DRAWING}, views) == Verdict(steps_wrong=wrong, steps_lost=lost)


@pytest.mark.parametrize(
    "change",
    [
        {"steps_wrong": 1},
        {"steps_lost": 1},
        {"steps_called_twice": 1},
        {"samples_over_quota": 1},
        {"busy_tasks_stopped": 1},
        {"jobs_succeeded": 19},
        {"model_calls": 101},
        {"final_tasks": 6},
        {"fast_wait_p95_s": 501.0},
    ],
)
def test_each_figure_that_is_off_is_a_finding_of_its_own(change: dict[str, float]) -> None:
    """A good report has no finding, and each bad figure makes exactly one."""
    assert GOOD.findings == []
    assert len(dataclasses.replace(GOOD, **change).findings) == 1  # type: ignore[arg-type]  # names of numbers


def event(kind: str, task: str, wall: float, **details: object) -> dict[str, object]:
    """An event of the heavy service."""
    return {"kind": kind, "subject": "heavy", "task": task, "wall": wall, **details}


def test_the_peak_is_counted_from_starts_and_ends() -> None:
    """Two run at once at most, one at the end; a task of another service does not count."""
    events = [event("running", "a", 1), event("running", "b", 2), event("stopped", "a", 3), event("running", "c", 4)]
    assert task_peaks(
        [*events, {**event("running", "x", 5), "subject": "fast"}, event("stopped", "b", 6)], "heavy"
    ) == (
        2,
        1,
    )


@pytest.mark.parametrize(("stopped_at", "count"), [(9.0, 0), (10.0, 1), (19.9, 1), (20.0, 0)])
def test_a_stop_is_busy_while_the_model_works_for_its_task(stopped_at: float, count: int) -> None:
    """From the call's start up to its end, a scale-in of its task counts, and of another task it does not."""
    calls = [{"worker": "a", "started": 10.0, "ended": 20.0}]
    stops = [event("stopping", task, stopped_at, reason="scale in") for task in ("a", "b")]
    assert busy_stops(stops, calls) == count


def test_the_film_shows_what_was_seen() -> None:
    """Two snapshots become charts of backlog, tasks and calls; the verdict names what is not as it must be."""
    film = Film(speed=120)
    for waiting, running in ((6, 1), (0, 3)):
        film.take(
            Snapshot(
                lanes={"heavy": LaneView(waiting=waiting, in_flight=2), "fast": LaneView(waiting=0, in_flight=0)},
                fleets={"heavy": FleetView(desired=3, running=running, protected=1)},
                calls_in_flight=2,
                quota_calls=24,
                jobs=Tally(
                    jobs=1,
                    jobs_succeeded=0,
                    jobs_open=1,
                    steps=6,
                    steps_succeeded=0,
                    model_calls=0,
                    steps_called_twice=0,
                ),
            )
        )
    page = film.page(dataclasses.replace(GOOD, steps_lost=1))
    assert [chart.title for chart in page.charts] == ["Backlog", "Tasks of the heavy lane", "Model calls in flight"]
    assert [row[1:] for row in page.charts[1].table.rows] == [["3.0", "1.0", "1.0"], ["3.0", "3.0", "1.0"]]
    assert "Not as it must be: steps_lost = 1, expected 0." in page.verdict
