"""The first tables: jobs, their blocks and steps, the calls that were paid for, and every transition."""

from alembic import op

revision = "0001"
down_revision = None

_TABLES = (
    """
    CREATE TABLE jobs (
        id uuid DEFAULT gen_random_uuid() NOT NULL CONSTRAINT jobs_pkey PRIMARY KEY,
        name text NOT NULL,
        drawing_key text NOT NULL,
        status text DEFAULT 'pending' NOT NULL CONSTRAINT jobs_status_check
            CHECK (status IN ('pending', 'running', 'succeeded', 'failed', 'canceled')),
        reason text,
        created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
        updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
        started_at timestamptz,
        finished_at timestamptz
    )
    """,
    """
    CREATE TABLE blocks (
        id uuid DEFAULT gen_random_uuid() NOT NULL CONSTRAINT blocks_pkey PRIMARY KEY,
        job_id uuid NOT NULL CONSTRAINT blocks_job_id_fkey REFERENCES jobs (id),
        number integer NOT NULL,
        page integer NOT NULL,
        box jsonb NOT NULL,
        image_key text NOT NULL,
        created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
        CONSTRAINT blocks_job_id_number_key UNIQUE (job_id, number)
    )
    """,
    """
    CREATE TABLE steps (
        id uuid DEFAULT gen_random_uuid() NOT NULL CONSTRAINT steps_pkey PRIMARY KEY,
        job_id uuid NOT NULL CONSTRAINT steps_job_id_fkey REFERENCES jobs (id),
        block_id uuid NOT NULL CONSTRAINT steps_block_id_fkey REFERENCES blocks (id),
        check_name text NOT NULL,
        status text DEFAULT 'pending' NOT NULL CONSTRAINT steps_status_check
            CHECK (status IN ('pending', 'running', 'succeeded', 'failed', 'canceled')),
        attempt integer DEFAULT 0 NOT NULL,
        lease_until timestamptz,
        result jsonb,
        reason text,
        created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
        updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
        started_at timestamptz,
        finished_at timestamptz,
        CONSTRAINT steps_block_id_check_name_key UNIQUE (block_id, check_name)
    )
    """,
    "CREATE INDEX steps_job_id_idx ON steps (job_id)",
    """
    CREATE TABLE calls (
        id uuid DEFAULT gen_random_uuid() NOT NULL CONSTRAINT calls_pkey PRIMARY KEY,
        job_id uuid NOT NULL CONSTRAINT calls_job_id_fkey REFERENCES jobs (id),
        step_id uuid NOT NULL CONSTRAINT calls_step_id_fkey REFERENCES steps (id),
        attempt integer NOT NULL,
        outcome text NOT NULL,
        accepted boolean NOT NULL,
        latency_s double precision NOT NULL,
        input_tokens integer NOT NULL,
        output_tokens integer NOT NULL,
        cost_usd numeric(14, 8) NOT NULL,
        rate_limited integer NOT NULL,
        created_at timestamptz DEFAULT clock_timestamp() NOT NULL
    )
    """,
    "CREATE INDEX calls_job_id_idx ON calls (job_id)",
    "CREATE INDEX calls_step_id_idx ON calls (step_id)",
    """
    CREATE TABLE events (
        id uuid DEFAULT gen_random_uuid() NOT NULL CONSTRAINT events_pkey PRIMARY KEY,
        position bigint GENERATED ALWAYS AS IDENTITY NOT NULL CONSTRAINT events_position_key UNIQUE,
        job_id uuid NOT NULL CONSTRAINT events_job_id_fkey REFERENCES jobs (id),
        step_id uuid CONSTRAINT events_step_id_fkey REFERENCES steps (id),
        from_status text,
        to_status text NOT NULL,
        attempt integer,
        reason text,
        at timestamptz DEFAULT clock_timestamp() NOT NULL
    )
    """,
    "CREATE INDEX events_job_id_idx ON events (job_id)",
)


def upgrade() -> None:
    """Create the tables."""
    for statement in _TABLES:
        op.execute(statement)
