"""Which jobs are silent, whose message is lost, and what is done about each: one statement, one transaction a row.

The looks come from indexes that hold open rows only, and take no lock; each act is a function of the job store that
locks and looks again (migrations/versions/watchdog.py). Durations are wall seconds. ``lanes_empty`` says that no
message is in any lane: with messages there, a row that waits is silent only where others overtook it.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from headway.jobs.database import at_once
from headway.jobs.schema import jobs, steps
from headway.jobs.states import ACTIVE_JOB, JobStatus, StepStatus

#: Who ends what the reconciler ends.
RECONCILER = "reconciler"


class Swept(StrEnum):
    """What became of a job that looked silent: ended; alive after all; held by another writer, or ended already."""

    SWEPT = "swept"
    REPRIEVED = "reprieved"
    SKIPPED = "skipped"


def silent_query(*, idle_s: float, after: tuple[Any, UUID] | None, limit: int) -> sa.Select[Any]:
    """Return the look for open jobs whose own row is older than ``idle_s``, the oldest first, from ``after`` on."""
    position = sa.tuple_(jobs.c.updated_at, jobs.c.id)
    query = sa.select(jobs.c.updated_at, jobs.c.id).where(_open(), jobs.c.updated_at < _ago(idle_s))
    if after is not None:
        query = query.where(position > sa.tuple_(*after))
    return query.order_by(jobs.c.updated_at, jobs.c.id).limit(limit)


def silent_jobs(engine: sa.Engine, *, idle_s: float, batch: int) -> Iterator[list[UUID]]:
    """Yield batches of jobs that may be silent; each is looked for when the one before it is done with."""
    after: tuple[Any, UUID] | None = None
    while True:
        with engine.connect() as connection:
            rows = connection.execute(silent_query(idle_s=idle_s, after=after, limit=batch)).all()
        if not rows:
            return
        yield [row.id for row in rows]
        after = (rows[-1].updated_at, rows[-1].id)


def is_silent(engine: sa.Engine, job_id: UUID, *, lanes_empty: bool, idle_s: float) -> bool:
    """Return whether nothing in the job has shown a sign of life for ``idle_s``; takes no lock."""
    last_sign = sa.func.heartbeat(job_id, lanes_empty, idle_s)
    with engine.connect() as connection:
        return bool(connection.scalar(sa.select(last_sign <= _ago(idle_s))))


def lost_steps(engine: sa.Engine, *, lanes_empty: bool, lease_s: float, limit: int) -> list[UUID]:
    """Return pending steps of which no message may be left, the oldest first."""
    before = _overtaken_before(lanes_empty, lease_s)
    query = (
        sa.select(steps.c.id)
        .where(
            steps.c.status == StepStatus.PENDING,
            steps.c.requeued_at_attempt.is_distinct_from(steps.c.attempt),
            steps.c.updated_at < _ago(lease_s),
            steps.c.updated_at < sa.select(before.c.steps_before).scalar_subquery(),
        )
        .order_by(steps.c.updated_at, steps.c.id)
        .limit(limit)
    )
    with engine.connect() as connection:
        return list(connection.scalars(query))


def lost_jobs(engine: sa.Engine, *, lanes_empty: bool, lease_s: float, limit: int) -> list[UUID]:
    """Return pending jobs of which no message may be left, or ever was, the oldest first."""
    before = _overtaken_before(lanes_empty, lease_s)
    query = (
        sa.select(jobs.c.id)
        .where(
            _open(),
            jobs.c.status == JobStatus.PENDING,
            jobs.c.requeued_at.is_(None),
            jobs.c.updated_at < _ago(lease_s),
            jobs.c.created_at < sa.select(before.c.jobs_before).scalar_subquery(),
        )
        .order_by(jobs.c.updated_at, jobs.c.id)
        .limit(limit)
    )
    with engine.connect() as connection:
        return list(connection.scalars(query))


def sweep_statement(job_id: UUID, *, lanes_empty: bool, idle_s: float, reason: str) -> sa.Select[Any]:
    """Return the statement that cancels a job if it is silent, and answers with a `Swept`."""
    return sa.select(sa.func.sweep_job(job_id, lanes_empty, idle_s, RECONCILER, reason))


def requeue_step(engine: sa.Engine, step_id: UUID, *, lanes_empty: bool, lease_s: float) -> bool:
    """Note that the step's message is sent once more, once for each attempt; False where it needs none."""
    return _done(engine, sa.func.requeue_step(step_id, lanes_empty, lease_s))


def requeue_job(engine: sa.Engine, job_id: UUID, *, lanes_empty: bool, lease_s: float) -> bool:
    """Note that the job's message is sent once more, once only; False where it needs none."""
    return _done(engine, sa.func.requeue_job(job_id, lanes_empty, lease_s))


def bury_step(engine: sa.Engine, step_id: UUID, reason: str) -> bool:
    """Fail a step whose message is among the dead letters; False where it has ended, or somebody holds it."""
    return _done(engine, sa.func.bury_step(step_id, RECONCILER, reason))


def _done(engine: sa.Engine, function: sa.Function[Any]) -> bool:
    with at_once(engine) as connection:
        return bool(connection.scalar(sa.select(function)))


def _open() -> sa.ColumnElement[bool]:
    return jobs.c.status.in_([sa.literal_column(f"'{status}'") for status in sorted(ACTIVE_JOB)])


def _ago(seconds: float) -> sa.ColumnElement[Any]:
    # The statement's beginning, which an index can be searched by; a clock that goes on cannot.
    return sa.func.statement_timestamp() - sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds)


def _overtaken_before(lanes_empty: bool, by_s: float) -> sa.TableValuedAlias:
    return sa.func.overtaken_before(lanes_empty, by_s).table_valued("jobs_before", "steps_before")
