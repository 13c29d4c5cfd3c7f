"""What can be said of all jobs together: how many there are of each kind, and how long their work waited."""

from dataclasses import dataclass

import sqlalchemy as sa

from headway.jobs.schema import calls, jobs, steps
from headway.jobs.states import JobStatus, StepStatus


@dataclass(frozen=True, kw_only=True)
class Waits:
    """How long work waited, wall seconds: a job for its blocksplit (fast), a step for its last claim (heavy).

    None where none has.
    """

    fast_s: float | None
    heavy_s: float | None


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Counts over all jobs.

    ``jobs_open`` have not ended; ``model_calls`` were served; ``steps_called_twice`` were answered more than once.
    """

    jobs: int
    jobs_succeeded: int
    jobs_open: int
    steps: int
    steps_succeeded: int
    model_calls: int
    steps_called_twice: int


def waits(engine: sa.Engine, *, quantile: float = 0.95) -> Waits:
    """Return the given quantile of each lane's waits."""
    with engine.connect() as connection:
        query = sa.select(_wait(jobs, quantile).label("fast_s"), _wait(steps, quantile).label("heavy_s"))
        return Waits(**connection.execute(query).mappings().one())


def tally(engine: sa.Engine) -> Tally:
    """Count everything, in one snapshot."""
    answered = sa.select(calls.c.step_id).where(calls.c.outcome == "ok").group_by(calls.c.step_id)
    twice = answered.having(sa.func.count() > 1).subquery()

    def count(table: sa.FromClause, *where: sa.ColumnElement[bool]) -> sa.ScalarSelect[int]:
        return sa.select(sa.func.count()).select_from(table).where(*where).scalar_subquery()

    query = sa.select(
        count(jobs).label("jobs"),
        count(jobs, jobs.c.status == JobStatus.SUCCEEDED).label("jobs_succeeded"),
        count(jobs, jobs.c.finished_at.is_(None)).label("jobs_open"),
        count(steps).label("steps"),
        count(steps, steps.c.status == StepStatus.SUCCEEDED).label("steps_succeeded"),
        count(calls, calls.c.outcome != "rate_limited").label("model_calls"),
        count(twice).label("steps_called_twice"),
    )
    with engine.connect() as connection:
        return Tally(**connection.execute(query).mappings().one())


def _wait(table: sa.Table, quantile: float) -> sa.ScalarSelect[float]:
    waited = sa.extract("epoch", table.c.started_at - table.c.created_at)
    percentile = sa.cast(sa.func.percentile_cont(quantile).within_group(waited), sa.Double)
    return sa.select(percentile).where(table.c.started_at.is_not(None)).scalar_subquery()
