"""The tables. Times are timestamptz from the database's own clock; ids are uuids."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from headway.jobs.states import JobStatus, StepStatus

metadata = sa.MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s_check",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    }
)


def _id() -> sa.Column[object]:
    return sa.Column("id", sa.Uuid, primary_key=True, server_default=sa.text("gen_random_uuid()"))


def _time(name: str, *, now: bool = False) -> sa.Column[object]:
    default = sa.text("clock_timestamp()") if now else None
    return sa.Column(name, sa.DateTime(timezone=True), nullable=not now, server_default=default)


def _status(values: type[JobStatus] | type[StepStatus]) -> list[sa.schema.SchemaItem]:
    known = ", ".join(f"'{value}'" for value in values)
    return [
        sa.Column("status", sa.Text, nullable=False, server_default="pending"),
        sa.CheckConstraint(f"status IN ({known})", name="status"),
    ]


jobs = sa.Table(
    "jobs",
    metadata,
    _id(),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("drawing_key", sa.Text, nullable=False),
    *_status(JobStatus),
    sa.Column("reason", sa.Text),
    _time("created_at", now=True),
    _time("updated_at", now=True),
    _time("started_at"),
    _time("finished_at"),
    #: When its message was sent once more.
    _time("requeued_at"),
    sa.Index("jobs_open_idx", "updated_at", "id", postgresql_where=sa.text("status IN ('pending', 'running')")),
    sa.Index("jobs_begun_idx", "created_at", postgresql_where=sa.text("started_at IS NOT NULL")),
)

blocks = sa.Table(
    "blocks",
    metadata,
    _id(),
    sa.Column("job_id", sa.Uuid, sa.ForeignKey("jobs.id"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("page", sa.Integer, nullable=False),
    sa.Column("box", JSONB, nullable=False),
    sa.Column("image_key", sa.Text, nullable=False),
    _time("created_at", now=True),
    sa.UniqueConstraint("job_id", "number"),
)

steps = sa.Table(
    "steps",
    metadata,
    _id(),
    sa.Column("job_id", sa.Uuid, sa.ForeignKey("jobs.id"), nullable=False, index=True),
    sa.Column("block_id", sa.Uuid, sa.ForeignKey("blocks.id"), nullable=False),
    sa.Column("check_name", sa.Text, nullable=False),
    *_status(StepStatus),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
    _time("lease_until"),
    sa.Column("result", JSONB(none_as_null=True)),
    sa.Column("reason", sa.Text),
    _time("created_at", now=True),
    _time("updated_at", now=True),
    _time("started_at"),
    _time("finished_at"),
    #: The attempt before which its message was sent once more.
    sa.Column("requeued_at_attempt", sa.Integer),
    sa.UniqueConstraint("block_id", "check_name"),
    sa.Index("steps_open_idx", "job_id", postgresql_where=sa.text("status IN ('pending', 'running')")),
    sa.Index("steps_pending_idx", "updated_at", "id", postgresql_where=sa.text("status = 'pending'")),
    sa.Index("steps_claimed_idx", "created_at", postgresql_where=sa.text("attempt > 0")),
)

#: One row for each model call, accepted or not: what was paid for.
calls = sa.Table(
    "calls",
    metadata,
    _id(),
    sa.Column("job_id", sa.Uuid, sa.ForeignKey("jobs.id"), nullable=False, index=True),
    sa.Column("step_id", sa.Uuid, sa.ForeignKey("steps.id"), nullable=False, index=True),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("accepted", sa.Boolean, nullable=False),
    sa.Column("latency_s", sa.Double, nullable=False),
    sa.Column("input_tokens", sa.Integer, nullable=False),
    sa.Column("output_tokens", sa.Integer, nullable=False),
    sa.Column("cost_usd", sa.Numeric(14, 8), nullable=False),
    sa.Column("rate_limited", sa.Integer, nullable=False),
    _time("created_at", now=True),
    sa.Column("in_flight_at_start", sa.Integer, nullable=False, server_default="0"),
)

#: One row for each transition, written by the transaction that made it.
events = sa.Table(
    "events",
    metadata,
    _id(),
    sa.Column("position", sa.BigInteger, sa.Identity(always=True), nullable=False, unique=True),
    sa.Column("job_id", sa.Uuid, sa.ForeignKey("jobs.id"), nullable=False, index=True),
    sa.Column("step_id", sa.Uuid, sa.ForeignKey("steps.id")),
    sa.Column("from_status", sa.Text),
    sa.Column("to_status", sa.Text, nullable=False),
    sa.Column("attempt", sa.Integer),
    sa.Column("reason", sa.Text),
    _time("at", now=True),
    #: Who ended the job; None where it moved by itself.
    sa.Column("actor", sa.Text),
)

#: One row: how many model calls may be in flight in the whole fleet, and when a worker last asked or renewed.
call_quota = sa.Table(
    "call_quota",
    metadata,
    sa.Column("id", sa.SmallInteger, primary_key=True, server_default="1", autoincrement=False),
    sa.Column("calls", sa.Integer, nullable=False),
    _time("heard_at", now=True),
    sa.CheckConstraint("id = 1", name="single"),
)

#: One row for each call that is in flight, with the time it was granted, or waits to be; ``turn`` is the line's order.
call_leases = sa.Table(
    "call_leases",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("turn", sa.BigInteger, sa.Identity(always=True), nullable=False, unique=True),
    _time("granted_at"),
    sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
)
