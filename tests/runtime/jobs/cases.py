"""Jobs in the states that tests start from."""

import uuid
from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa

from headway.jobs import Claim, NewBlock, begin_job, claim_step, create_job, pending_steps, save_blocks
from headway.jobs.schema import events, jobs, steps
from headway.vision.calls import Call

LEASE_S = 30.0
OK = Call(outcome="ok", latency_s=1.0, input_tokens=10, output_tokens=1, cost_usd=0.5)


def new_job(engine: sa.Engine) -> UUID:
    """Return a pending job."""
    job_id = uuid.uuid4()
    create_job(engine, job_id=job_id, name="plan.png", drawing_key="drawings/plan.png")
    return job_id


def cut_job(engine: sa.Engine, *, blocks: int = 1, checks: Sequence[str] = ("bars",)) -> tuple[UUID, list[UUID]]:
    """Return a running job and its pending steps."""
    job_id = new_job(engine)
    begin_job(engine, job_id)
    found = [NewBlock(number=n, page=1, box=(0, 0, 9, 9), image_key=f"{n}.png") for n in range(1, blocks + 1)]
    assert save_blocks(engine, job_id, found, checks)
    return job_id, list(pending_steps(engine, job_id) or ())


def claimed(engine: sa.Engine, step_id: UUID, *, lease_s: float = LEASE_S) -> Claim:
    """Return a claim on the step."""
    claim = claim_step(engine, step_id, lease_s=lease_s)
    assert isinstance(claim, Claim)
    return claim


def status_of(engine: sa.Engine, row_id: UUID) -> str:
    """Return a job's or a step's status."""
    with engine.connect() as connection:
        query = sa.union_all(*(sa.select(t.c.status).where(t.c.id == row_id) for t in (jobs, steps)))
        return str(connection.execute(query).scalar_one())


def history(engine: sa.Engine, row_id: UUID) -> list[tuple[str | None, str]]:
    """Return a job's or a step's transitions (from, to), in order."""
    with engine.connect() as connection:
        of_step = events.c.step_id == row_id
        of_job = (events.c.job_id == row_id) & events.c.step_id.is_(None)
        query = sa.select(events.c.from_status, events.c.to_status).where(of_step | of_job).order_by(events.c.position)
        return [tuple(row) for row in connection.execute(query)]
