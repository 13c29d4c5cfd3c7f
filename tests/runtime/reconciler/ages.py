"""Makes jobs older than they are."""

from uuid import UUID

import sqlalchemy as sa

from headway.jobs.schema import blocks, jobs, steps


def age(owner: sa.Engine, job_id: UUID, *, minutes: float, only: sa.Table | None = None) -> None:
    """Move the times of a job, its blocks and its steps, or of one of these, into the past."""
    back = sa.func.make_interval(0, 0, 0, 0, 0, 0, minutes * 60)
    with owner.begin() as connection:
        for table in (jobs, blocks, steps) if only is None else (only,):
            own = table.c.id if table is jobs else table.c.job_id
            times = [column for column in table.c if isinstance(column.type, sa.DateTime)]
            moved = {column.name: column - back for column in times}
            connection.execute(sa.update(table).where(own == job_id).values(moved))
