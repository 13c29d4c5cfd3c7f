"""The only statements that change a status: guarded, and each with its event in the same transaction.

Every writer locks the job's row first and its step's row second, so that no two of them can wait for each other, and a
writer that has waited sees what the other one left. Time comes from the database alone, and never runs backwards in a
row: greatest(updated_at, clock_timestamp()), because now() is the transaction's start and would stamp the past after a
wait for a lock.
"""

from typing import Any
from uuid import UUID

import sqlalchemy as sa

from headway.jobs.schema import events, jobs, steps
from headway.jobs.states import ACTIVE_JOB, ACTIVE_STEP, JOB_FOLLOWS, STEP_FOLLOWS, JobStatus, StepStatus


def lock_job(connection: sa.Connection, job_id: UUID, *, may_change: bool) -> JobStatus | None:
    """Lock the job's row and return its status, None where there is no such job.

    FOR SHARE lets other steps of the job move at the same time; FOR NO KEY UPDATE, with ``may_change``, is alone but
    for foreign-key checks (PostgreSQL manual, 13.3.2 Row-Level Locks).
    """
    query = sa.select(jobs.c.status).where(jobs.c.id == job_id)
    query = query.with_for_update(key_share=True) if may_change else query.with_for_update(read=True)
    status = connection.scalar(query)
    return None if status is None else JobStatus(status)


def lock_step(connection: sa.Connection, step_id: UUID) -> sa.Row[Any] | None:
    """Lock the step's row and return it with ``lease_left_s``, the seconds its claim still holds; job first, always."""
    left = sa.extract("epoch", steps.c.lease_until - sa.func.clock_timestamp()).label("lease_left_s")
    query = sa.select(steps, left).where(steps.c.id == step_id).with_for_update(key_share=True)
    return connection.execute(query).one_or_none()


def move_job(
    connection: sa.Connection, job_id: UUID, was: JobStatus, to: JobStatus, *, reason: str | None = None
) -> bool:
    """Move a locked job from ``was`` to ``to``; False, and nothing written, where that is no legal transition."""
    if was not in JOB_FOLLOWS[to]:
        return False
    now = sa.func.greatest(jobs.c.updated_at, sa.func.clock_timestamp())
    times = {"updated_at": now, **({"started_at": now} if to is JobStatus.RUNNING else {})}
    if to not in ACTIVE_JOB:
        times["finished_at"] = now
    moved = connection.execute(
        sa.update(jobs).where(jobs.c.id == job_id, jobs.c.status == was).values(status=to, reason=reason, **times)
    ).rowcount
    if moved:
        _record(connection, job_id=job_id, from_status=was, to_status=to, reason=reason)
    return bool(moved)


def move_step(
    connection: sa.Connection,
    *,
    job_id: UUID,
    step_id: UUID,
    attempt: int,
    was: StepStatus,
    to: StepStatus,
    reason: str | None = None,
    **values: Any,
) -> bool:
    """Move a step of a locked job; False, and nothing written, where it is not in ``was`` at ``attempt``.

    ``values``: further columns to set. A claim counts the attempt up, so ``attempt`` is the one before it.
    """
    if was not in STEP_FOLLOWS[to]:
        return False
    now = sa.func.greatest(steps.c.updated_at, sa.func.clock_timestamp())
    values |= {"status": to, "reason": reason, "updated_at": now}
    if to is StepStatus.RUNNING:
        values |= {"attempt": attempt + 1, "started_at": now}
    if to not in ACTIVE_STEP:
        values["finished_at"] = now
    guard = (steps.c.id == step_id, steps.c.attempt == attempt, steps.c.status == was)
    moved = connection.execute(sa.update(steps).where(*guard).values(values)).rowcount
    if moved:
        _record(
            connection,
            job_id=job_id,
            step_id=step_id,
            from_status=was,
            to_status=to,
            attempt=values.get("attempt", attempt),
            reason=reason,
        )
    return bool(moved)


def record_created(connection: sa.Connection, job_id: UUID, step_ids: list[UUID] | None = None) -> None:
    """Write the event of a new job, or one for each of its new steps."""
    for step_id in [None] if step_ids is None else step_ids:
        _record(connection, job_id=job_id, step_id=step_id, to_status="pending")


def _record(connection: sa.Connection, **values: Any) -> None:
    connection.execute(sa.insert(events).values(**values))
