"""Who may make a step's model call, and whose answer counts?

A worker claims the step before it calls and holds a lease while the call runs. A redelivered or duplicated message
finds the claim or the result and calls nothing; an answer that comes after its claim was lost is paid for, recorded
and discarded. No transaction is open while a model works.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from headway.jobs.schema import blocks, calls, steps
from headway.jobs.states import ACTIVE_JOB, ACTIVE_STEP, JobStatus, StepStatus
from headway.jobs.transitions import lock_job, lock_step, move_job, move_step
from headway.vision.calls import Call


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One attempt at one step: what to ask about which image. ``attempt`` counts from 1."""

    job_id: UUID
    step_id: UUID
    attempt: int
    check_name: str
    image_key: str


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why there is nothing to do: the step is unknown, has ended, or is held by somebody for ``held_s`` seconds."""

    reason: str
    unknown: bool = False
    held_s: float = 0.0


def claim_step(engine: sa.Engine, step_id: UUID, *, lease_s: float) -> Claim | Refusal:
    """Claim the step for ``lease_s`` wall seconds, or say why not."""
    with engine.begin() as connection:
        job_id = connection.scalar(sa.select(steps.c.job_id).where(steps.c.id == step_id))
        if job_id is None:
            return Refusal(reason=f"step {step_id} not found", unknown=True)
        job = lock_job(connection, job_id, may_change=False)
        step = lock_step(connection, step_id)
        if step is None or step.status not in ACTIVE_STEP:
            return Refusal(reason=f"step {step_id} already {step.status if step else 'gone'}")
        if job not in ACTIVE_JOB:
            return Refusal(reason=f"job {job_id} already {job}")
        was = StepStatus(step.status)
        if was is StepStatus.RUNNING and step.lease_left_s > 0:
            return Refusal(reason=f"step {step_id} is held", held_s=float(step.lease_left_s))
        move_step(
            connection,
            job_id=job_id,
            step_id=step_id,
            attempt=step.attempt,
            was=was,
            to=StepStatus.RUNNING,
            lease_until=_lease_end(lease_s),
        )
        image_key = connection.scalar(sa.select(blocks.c.image_key).where(blocks.c.id == step.block_id))
        return Claim(
            job_id=job_id,
            step_id=step_id,
            attempt=step.attempt + 1,
            check_name=step.check_name,
            image_key=str(image_key),
        )


def renew_claim(engine: sa.Engine, claim: Claim, *, lease_s: float) -> bool:
    """Hold the claim for ``lease_s`` wall seconds from now; False where it was lost, or the job has ended."""
    with engine.begin() as connection:
        if lock_job(connection, claim.job_id, may_change=False) not in ACTIVE_JOB:
            return False
        now = sa.func.greatest(steps.c.updated_at, sa.func.clock_timestamp())
        renewal = sa.update(steps).where(*_held(claim)).values(lease_until=_lease_end(lease_s), updated_at=now)
        return bool(connection.execute(renewal).rowcount)


def finish_step(
    engine: sa.Engine,
    claim: Claim,
    *,
    result: Mapping[str, Any] | None,
    reason: str | None = None,
    paid: Sequence[Call] = (),
) -> bool:
    """Write the claim's result, or with None its failure and ``reason``; the last step completes the job.

    False where the claim was lost or the job has ended: the result is discarded, its calls are recorded all the same.
    It may be called again where it is not known whether it was committed: then it changes nothing.
    """
    to = StepStatus.FAILED if result is None else StepStatus.SUCCEEDED
    with engine.begin() as connection:
        job = lock_job(connection, claim.job_id, may_change=True)
        accepted = job in ACTIVE_JOB and _end_claim(connection, claim, to, reason, result=result)
        _record_calls(connection, claim, paid, accepted=accepted)
        if job is not None and accepted:
            _complete(connection, claim.job_id, job)
        return accepted


def release_step(engine: sa.Engine, claim: Claim, *, reason: str, paid: Sequence[Call] = ()) -> bool:
    """Give the claim up, so that the next delivery may claim the step at once; False where it was lost already."""
    with engine.begin() as connection:
        active = lock_job(connection, claim.job_id, may_change=False) in ACTIVE_JOB
        released = active and _end_claim(connection, claim, StepStatus.PENDING, reason)
        _record_calls(connection, claim, paid, accepted=False)
        return released


def _lease_end(lease_s: float) -> sa.ColumnElement[Any]:
    return sa.func.clock_timestamp() + sa.func.make_interval(0, 0, 0, 0, 0, 0, lease_s)


def _held(claim: Claim) -> tuple[sa.ColumnElement[bool], ...]:
    return (steps.c.id == claim.step_id, steps.c.attempt == claim.attempt, steps.c.status == StepStatus.RUNNING)


def _end_claim(connection: sa.Connection, claim: Claim, to: StepStatus, reason: str | None, **values: Any) -> bool:
    return move_step(
        connection,
        job_id=claim.job_id,
        step_id=claim.step_id,
        attempt=claim.attempt,
        was=StepStatus.RUNNING,
        to=to,
        reason=reason,
        lease_until=None,
        **values,
    )


def _record_calls(connection: sa.Connection, claim: Claim, paid: Sequence[Call], *, accepted: bool) -> None:
    """Write the claim's calls, each under an id that is its own: written again after a lost COMMIT, it is there."""
    for number, call in enumerate(paid):
        # An unreadable answer is retried; only a step's last call gave its result.
        row = {**vars(call), "accepted": accepted and call is paid[-1]}
        owner = {"job_id": claim.job_id, "step_id": claim.step_id, "attempt": claim.attempt}
        call_id = uuid5(claim.step_id, f"attempt {claim.attempt}, call {number}")
        connection.execute(insert(calls).values(id=call_id, **row, **owner).on_conflict_do_nothing())


def _complete(connection: sa.Connection, job_id: UUID, was: JobStatus) -> None:
    """End the job where no step of it is left to do; the lock that finish_step took makes the count the last one."""
    left = sa.func.count().filter(steps.c.status.in_(ACTIVE_STEP))
    failed = sa.func.count().filter(steps.c.status == StepStatus.FAILED)
    open_steps, failures = connection.execute(sa.select(left, failed).where(steps.c.job_id == job_id)).one()
    if not open_steps and failures:
        move_job(connection, job_id, was, JobStatus.FAILED, reason=f"{failures} of its steps failed")
    elif not open_steps:
        move_job(connection, job_id, was, JobStatus.SUCCEEDED)
