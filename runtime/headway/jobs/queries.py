"""How jobs are looked up: one with all under it, the newest of some kind, and whether one has changed."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from headway.jobs.schema import blocks, calls, events, jobs, steps
from headway.jobs.states import JobStatus, StepStatus
from headway.jobs.views import BlockView, JobSummary, JobView, Origin, StepView


def list_jobs(
    engine: sa.Engine,
    *,
    limit: int = 1_000,
    before: datetime | None = None,
    status: JobStatus | None = None,
    older_than_s: float | None = None,
) -> list[JobSummary]:
    """Return the newest ``limit`` jobs, newest first.

    Of those created ``before`` a time, of one ``status``, or created more than ``older_than_s`` wall seconds ago.

    Raises:
        ValueError: ``before`` has no time zone: it would mean another moment on every machine.
    """
    if before is not None and before.tzinfo is None:
        raise ValueError(f"before = {before.isoformat()}: a timestamp without zone is refused; add one, such as +00:00")
    with engine.connect() as connection:
        query = sa.select(jobs).order_by(jobs.c.created_at.desc(), jobs.c.id).limit(limit)
        if before is not None:
            query = query.where(jobs.c.created_at < before)
        if status is not None:
            query = query.where(jobs.c.status == status)
        if older_than_s is not None:
            age = sa.func.make_interval(0, 0, 0, 0, 0, 0, older_than_s)
            query = query.where(jobs.c.created_at < sa.func.clock_timestamp() - age)
        return _summaries(connection, connection.execute(query).all())


def job_view(engine: sa.Engine, job_id: UUID) -> JobView | None:
    """Return one job with everything under it; None where there is no such job."""
    with engine.connect() as connection:
        rows = connection.execute(sa.select(jobs).where(jobs.c.id == job_id)).all()
        if not rows:
            return None
        by_block: dict[UUID, list[StepView]] = {}
        query = sa.select(steps).where(steps.c.job_id == job_id).order_by(steps.c.check_name)
        for row in connection.execute(query).mappings():
            by_block.setdefault(row["block_id"], []).append(_step(row))
        query = sa.select(blocks).where(blocks.c.job_id == job_id).order_by(blocks.c.number)
        found = tuple(
            BlockView(
                number=row.number,
                page=row.page,
                box=tuple(row.box),
                image_key=row.image_key,
                steps=tuple(by_block.get(row.id, ())),
            )
            for row in connection.execute(query)
        )
        return JobView(summary=_summaries(connection, rows)[0], blocks=found)


def origin(engine: sa.Engine, job_id: UUID) -> Origin | None:
    """Return what a job was submitted with; None where there is no such job."""
    with engine.connect() as connection:
        query = sa.select(jobs.c.name, jobs.c.drawing_key, jobs.c.status).where(jobs.c.id == job_id)
        row = connection.execute(query).one_or_none()
        return row and Origin(name=row.name, drawing_key=row.drawing_key, status=JobStatus(row.status))


def revision(engine: sa.Engine, job_id: UUID) -> str:
    """Return a word that is another one once anything about a job has changed: each change writes an event or a call.

    Rows are counted, not their greatest position: of two that commit at once, the later position may come first.
    """
    with engine.connect() as connection:
        written = (
            sa.select(sa.func.count()).where(table.c.job_id == job_id).scalar_subquery() for table in (events, calls)
        )
        return "-".join(str(count) for count in connection.execute(sa.select(*written)).one())


def _summaries(connection: sa.Connection, rows: Any) -> list[JobSummary]:
    ids = [row.id for row in rows]
    by_status = sa.select(steps.c.job_id, steps.c.status, sa.func.count()).where(steps.c.job_id.in_(ids))
    counts: dict[UUID, dict[StepStatus, int]] = {}
    for job_id, status, number in connection.execute(by_status.group_by(steps.c.job_id, steps.c.status)):
        counts.setdefault(job_id, {})[StepStatus(status)] = number
    spent = sa.select(calls.c.job_id, sa.func.sum(calls.c.cost_usd)).where(calls.c.job_id.in_(ids))
    costs = {job_id: float(cost) for job_id, cost in connection.execute(spent.group_by(calls.c.job_id))}
    return [
        JobSummary(
            id=row.id,
            name=row.name,
            status=JobStatus(row.status),
            reason=row.reason,
            created_at=row.created_at,
            started_at=row.started_at,
            finished_at=row.finished_at,
            steps=counts.get(row.id, {}),
            cost_usd=costs.get(row.id, 0.0),
        )
        for row in rows
    ]


def _step(row: sa.RowMapping) -> StepView:
    return StepView(
        id=row["id"],
        check_name=row["check_name"],
        status=StepStatus(row["status"]),
        attempt=row["attempt"],
        result=row["result"],
        reason=row["reason"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
    )
