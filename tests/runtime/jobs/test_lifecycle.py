"""A job's path, on real PostgreSQL."""

import uuid
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from headway.jobs import NewBlock, begin_job, fail_job, list_jobs, pending_steps, save_blocks, waits
from headway.jobs.schema import jobs
from headway.jobs.states import JobStatus
from tests.runtime.jobs.cases import claimed, cut_job, history, new_job

_BLOCK = NewBlock(number=1, page=1, box=(1, 2, 3, 4), image_key="1.png")


def test_a_job_begins_once(engine: sa.Engine) -> None:
    """A second delivery of its blocksplit finds it running, and changes nothing."""
    job_id = new_job(engine)
    assert begin_job(engine, job_id) == (JobStatus.RUNNING, "drawings/plan.png")
    assert begin_job(engine, job_id) == (JobStatus.RUNNING, "drawings/plan.png")
    assert history(engine, job_id) == [(None, "pending"), ("pending", "running")]
    assert begin_job(engine, uuid.uuid4()) is None


def test_blocks_are_written_once(engine: sa.Engine) -> None:
    """Two deliveries cut the same drawing; the second one's blocks are not written, the first one's steps are sent."""
    job_id = new_job(engine)
    begin_job(engine, job_id)
    assert pending_steps(engine, job_id) is None
    assert save_blocks(engine, job_id, [_BLOCK], ["bars", "openings"])
    assert not save_blocks(engine, job_id, [_BLOCK], ["bars", "openings"])
    assert len(pending_steps(engine, job_id) or ()) == 2


def test_only_pending_steps_are_sent_again(engine: sa.Engine) -> None:
    """What a worker holds or has finished needs no message."""
    job_id, (first, second) = cut_job(engine, blocks=2)
    claimed(engine, first)
    assert pending_steps(engine, job_id) == (second,)


def test_a_job_that_has_ended_stays_as_it_ended(engine: sa.Engine) -> None:
    """One terminal event, whoever tries again."""
    job_id = new_job(engine)
    assert fail_job(engine, job_id, "nothing drawn")
    assert not fail_job(engine, job_id, "again")
    begun = begin_job(engine, job_id)
    assert begun is not None
    assert begun[0] is JobStatus.FAILED
    assert not save_blocks(engine, job_id, [_BLOCK], ["bars"])
    assert history(engine, job_id) == [(None, "pending"), ("pending", "failed")]
    (summary,) = list_jobs(engine)
    assert (summary.reason, summary.finished_at is not None) == ("nothing drawn", True)


def test_waits_are_computed_by_the_database(engine: sa.Engine, owner: sa.Engine) -> None:
    """Jobs that waited 1, 2 and 3 s for their blocksplit: the median is 2, the 0.75 quantile 2.5."""
    assert waits(engine).fast_s is None
    for waited in (1, 2, 3):
        job_id = new_job(engine)
        with owner.begin() as connection:
            started = jobs.c.created_at + sa.text(f"interval '{waited} seconds'")
            connection.execute(sa.update(jobs).where(jobs.c.id == job_id).values(started_at=started))
    assert waits(engine, quantile=0.5).fast_s == pytest.approx(2.0)
    assert waits(engine, quantile=0.75).fast_s == pytest.approx(2.5)


def test_jobs_are_listed_by_state_and_age(engine: sa.Engine, owner: sa.Engine) -> None:
    """An hour-old pending job, a new one and a running one: each question finds its own; ages are the database's."""
    old, new, (running, _) = new_job(engine), new_job(engine), cut_job(engine)
    with owner.begin() as connection:
        earlier = jobs.c.created_at - sa.text("interval '61 minutes'")
        connection.execute(sa.update(jobs).where(jobs.c.id == old).values(created_at=earlier))
    assert [job.id for job in list_jobs(engine, status=JobStatus.RUNNING)] == [running]
    assert [job.id for job in list_jobs(engine, older_than_s=3_600)] == [old]
    assert [job.id for job in list_jobs(engine, status=JobStatus.PENDING)] == [new, old]


def test_a_time_without_a_zone_is_refused(engine: sa.Engine) -> None:
    """It would mean another moment on every machine."""
    with pytest.raises(
        ValueError, match=r"^before = 2026-03-01T12:00:00: a timestamp without zone is refused; add one"
    ):
        list_jobs(engine, before=datetime(2026, 3, 1, 12))  # that is the point
    assert list_jobs(engine, before=datetime(2026, 3, 1, 12, tzinfo=UTC)) == []
