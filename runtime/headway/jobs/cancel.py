"""How does a job end before its steps are done? By one SQL function, whoever asks: a person, a sweep, a sender."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

import sqlalchemy as sa

from headway.jobs.database import at_once
from headway.jobs.states import JobStatus


class Outcome(StrEnum):
    """What became of a request to end a job."""

    UNKNOWN = "unknown"
    ENDED = "ended"
    ALREADY = "already"
    FINISHED = "finished"


@dataclass(frozen=True, kw_only=True)
class End:
    """The event that ended a job: its id, who ended it and why, and when by the database's clock.

    ``actor`` is None where the job ended by itself.
    """

    event_id: UUID
    actor: str | None
    reason: str | None
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Ending:
    """The answer to a request to end a job.

    ENDED: it ended by this request. ALREADY: it had ended in this way before, by ``end``. FINISHED: it had ended in
    another way, ``status``. UNKNOWN: there is no such job, and neither ``status`` nor ``end``.
    """

    outcome: Outcome
    status: JobStatus | None = None
    end: End | None = None


def cancel_job(engine: sa.Engine, job_id: UUID, *, actor: str, reason: str) -> Ending:
    """Cancel a job and its open steps, in one statement; asked twice, it answers with the same event."""
    return _end(engine, sa.func.cancel_job(job_id, actor, reason))


def fail_job(engine: sa.Engine, job_id: UUID, reason: str, *, actor: str | None = None) -> bool:
    """Fail an active job with its reason, and cancel its open steps; False where it had ended already."""
    return _end(engine, sa.func.end_job(job_id, JobStatus.FAILED, actor, reason)).outcome is Outcome.ENDED


def _end(engine: sa.Engine, function: sa.Function[object]) -> Ending:
    answer = function.table_valued("outcome", "status", "event_id", "actor", "reason", "at")
    with at_once(engine) as connection:
        row = connection.execute(sa.select(answer)).one()
    if row.outcome == Outcome.UNKNOWN:
        return Ending(outcome=Outcome.UNKNOWN)
    end = End(event_id=row.event_id, actor=row.actor, reason=row.reason, at=row.at)
    return Ending(outcome=Outcome(row.outcome), status=JobStatus(row.status), end=end)
