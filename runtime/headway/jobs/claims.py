"""Who may make a step's model call, and whose answer counts?

A worker claims the step before it calls and holds a lease while the call runs. A redelivered or duplicated message
finds the claim or the result and calls nothing; an answer that comes after its claim was lost is paid for, recorded
and discarded. No transaction is open while a model works. The statements are the job store's own functions
(migrations/versions): each locks the job first, and a job that has ended lets nobody claim a step of it. A call is a
transaction of its own, so that no lock is held while the answer is on its way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from headway.jobs.database import at_once
from headway.jobs.states import StepStatus
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
    claimed = sa.func.claim_step(step_id, lease_s).table_valued(
        "outcome", "job_id", "status", "attempt", "check_name", "image_key", "held_s"
    )
    with at_once(engine) as connection:
        row = connection.execute(sa.select(claimed)).one()
    match row.outcome:
        case "unknown":
            return Refusal(reason=f"step {step_id} not found", unknown=True)
        case "job ended":
            return Refusal(reason=f"job {row.job_id} already {row.status}")
        case "step ended":
            return Refusal(reason=f"step {step_id} already {row.status}")
        case "held":
            return Refusal(reason=f"step {step_id} is held", held_s=row.held_s)
    return Claim(
        job_id=row.job_id,
        step_id=step_id,
        attempt=row.attempt,
        check_name=row.check_name,
        image_key=row.image_key,
    )


def renew_claim(engine: sa.Engine, claim: Claim, *, lease_s: float) -> bool:
    """Hold the claim for ``lease_s`` wall seconds from now; False where it was lost, or the job has ended."""
    return _call(engine, sa.func.renew_step(claim.step_id, claim.attempt, lease_s))


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
    answer = _json(None if result is None else dict(result))
    return _call(engine, sa.func.finish_step(claim.step_id, claim.attempt, to, answer, reason, _costs(claim, paid)))


def release_step(engine: sa.Engine, claim: Claim, *, reason: str, paid: Sequence[Call] = ()) -> bool:
    """Give the claim up, so that the next delivery may claim the step at once; False where it was lost already."""
    return _call(engine, sa.func.release_step(claim.step_id, claim.attempt, reason, _costs(claim, paid)))


def _call(engine: sa.Engine, function: sa.Function[Any]) -> bool:
    with at_once(engine) as connection:
        return bool(connection.scalar(sa.select(function)))


def _costs(claim: Claim, paid: Sequence[Call]) -> sa.BindParameter[Any]:
    """Return the claim's calls, each under an id that is its own, as rows; only a step's last call gave its result."""
    rows = [
        {
            **vars(call),
            "id": str(uuid5(claim.step_id, f"attempt {claim.attempt}, call {number}")),
            "accepted": call is paid[-1],
        }
        for number, call in enumerate(paid)
    ]
    return _json(rows)


def _json(value: Any) -> sa.BindParameter[Any]:
    return sa.bindparam(None, value, type_=JSONB(none_as_null=True))
