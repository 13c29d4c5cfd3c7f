"""A job's own path: created by a sender, begun and cut into steps by its blocksplit."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa

from headway.jobs.database import at_once
from headway.jobs.schema import blocks, events, jobs, steps
from headway.jobs.states import ACTIVE_JOB, JobStatus, StepStatus


@dataclass(frozen=True, kw_only=True)
class NewBlock:
    """One block as it was cut: ``box`` is (left, top, right, bottom) in pixels of its page, pages count from 1."""

    number: int
    page: int
    box: tuple[int, int, int, int]
    image_key: str


def create_job(engine: sa.Engine, *, job_id: UUID, name: str, drawing_key: str) -> None:
    """Write a pending job."""
    with engine.begin() as connection:
        connection.execute(sa.insert(jobs).values(id=job_id, name=name, drawing_key=drawing_key))
        connection.execute(sa.insert(events).values(job_id=job_id, to_status=JobStatus.PENDING))


def begin_job(engine: sa.Engine, job_id: UUID) -> tuple[JobStatus, str] | None:
    """Start a pending job and return its status now and its drawing's key; None where there is no such job."""
    begun = sa.func.begin_job(job_id).table_valued("status", "drawing_key")
    with at_once(engine) as connection:
        row = connection.execute(sa.select(begun)).one()
    return None if row.status is None else (JobStatus(row.status), row.drawing_key)


def save_blocks(engine: sa.Engine, job_id: UUID, found: Sequence[NewBlock], check_names: Sequence[str]) -> bool:
    """Write the blocks, and one pending step for each block and check, in one transaction.

    False where another delivery has written them already, or the job has ended.
    """
    with engine.begin() as connection:
        if connection.scalar(sa.select(sa.func.lock_job(job_id))) not in ACTIVE_JOB or _is_cut(connection, job_id):
            return False
        for block in found:
            block_id = connection.scalar(
                sa.insert(blocks)
                .values(job_id=job_id, **{**vars(block), "box": list(block.box)})
                .returning(blocks.c.id)
            )
            step_ids = connection.scalars(
                sa.insert(steps).returning(steps.c.id),
                [{"job_id": job_id, "block_id": block_id, "check_name": name} for name in check_names],
            ).all()
            created = {"job_id": job_id, "to_status": StepStatus.PENDING}
            connection.execute(sa.insert(events), [{**created, "step_id": step_id} for step_id in step_ids])
        return True


def pending_steps(engine: sa.Engine, job_id: UUID) -> tuple[UUID, ...] | None:
    """Return the ids of the job's pending steps, in the order of its blocks; None where it was not cut yet."""
    with engine.connect() as connection:
        if not _is_cut(connection, job_id):
            return None
        query = (
            sa.select(steps.c.id)
            .join(blocks, blocks.c.id == steps.c.block_id)
            .where(steps.c.job_id == job_id, steps.c.status == StepStatus.PENDING)
            .order_by(blocks.c.number, steps.c.check_name)
        )
        return tuple(connection.scalars(query))


def _is_cut(connection: sa.Connection, job_id: UUID) -> bool:
    return connection.scalar(sa.select(sa.literal(1)).where(blocks.c.job_id == job_id).limit(1)) is not None
