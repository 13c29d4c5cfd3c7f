"""The fleet's call quota and who holds a part of it; the calls in flight are recorded with each call."""

from alembic import op

revision = "0002"
down_revision = "0001"

_STATEMENTS = (
    """
    CREATE TABLE call_quota (
        id smallint DEFAULT 1 NOT NULL CONSTRAINT call_quota_pkey PRIMARY KEY
            CONSTRAINT call_quota_single_check CHECK (id = 1),
        calls integer NOT NULL,
        heard_at timestamptz DEFAULT clock_timestamp() NOT NULL
    )
    """,
    # No call is let through before a worker has said how many there may be.
    "INSERT INTO call_quota (calls) VALUES (0)",
    """
    CREATE TABLE call_leases (
        id uuid NOT NULL CONSTRAINT call_leases_pkey PRIMARY KEY,
        turn bigint GENERATED ALWAYS AS IDENTITY NOT NULL CONSTRAINT call_leases_turn_key UNIQUE,
        granted_at timestamptz,
        expires_at timestamptz NOT NULL
    )
    """,
    # With a default, for the workers of the release before, which do not know the column.
    "ALTER TABLE calls ADD COLUMN in_flight_at_start integer DEFAULT 0 NOT NULL",
)


def upgrade() -> None:
    """Add two tables and a column."""
    for statement in _STATEMENTS:
        op.execute(statement)
