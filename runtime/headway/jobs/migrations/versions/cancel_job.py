"""One way to end a job before its steps are done, for the button and the sweep alike; events say who did it."""

from alembic import op

revision = "0003"
down_revision = "0002"

_STATEMENTS = (
    "ALTER TABLE events ADD COLUMN actor text",
    # What is still to do, of one job or of all: few rows, however many jobs there ever were.
    "CREATE INDEX steps_open_idx ON steps (job_id) WHERE status IN ('pending', 'running')",
    # The end of a job and of its open steps. Every writer locks the job's row first and its steps second, so that no
    # two can wait for each other; times are taken after the lock, and never run back in a row. Whoever holds a step,
    # and may be calling a model for it, is told at the commit.
    """
    CREATE FUNCTION end_job(
        of_job uuid, to_status text, by_actor text, why text,
        OUT outcome text, OUT status text, OUT event_id uuid, OUT actor text, OUT reason text, OUT at timestamptz
    )
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    DECLARE
        job jobs;
        in_flight boolean;
    BEGIN
        SELECT * INTO job FROM jobs WHERE id = of_job FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            outcome := 'unknown';
            RETURN;
        END IF;
        IF job.status IN ('pending', 'running') THEN
            outcome := 'ended';
            status := to_status;
            at := greatest(job.updated_at, clock_timestamp());
            UPDATE jobs SET status = to_status, reason = why, updated_at = end_job.at, finished_at = end_job.at
            WHERE id = of_job;
            INSERT INTO events (job_id, from_status, to_status, actor, reason, at)
            VALUES (of_job, job.status, to_status, by_actor, why, end_job.at)
            RETURNING id, events.actor, events.reason INTO event_id, actor, reason;
            WITH open AS (
                SELECT id, steps.status, attempt, lease_until, greatest(updated_at, end_job.at) AS ends_at FROM steps
                WHERE job_id = of_job AND steps.status IN ('pending', 'running') FOR NO KEY UPDATE
            ), ended AS (
                UPDATE steps SET status = 'canceled', lease_until = NULL, reason = 'job ' || to_status,
                    updated_at = ends_at, finished_at = ends_at
                FROM open WHERE steps.id = open.id
            ), recorded AS (
                INSERT INTO events (job_id, step_id, from_status, to_status, attempt, actor, reason, at)
                SELECT of_job, open.id, open.status, 'canceled', attempt, by_actor, 'job ' || to_status, ends_at
                FROM open
            )
            SELECT bool_or(open.lease_until > clock_timestamp()) INTO in_flight FROM open;
            IF in_flight THEN
                PERFORM pg_notify('headway_job_ended', of_job::text);
            END IF;
            RETURN;
        END IF;
        outcome := CASE job.status WHEN to_status THEN 'already' ELSE 'finished' END;
        status := job.status;
        SELECT id, events.actor, events.reason, events.at INTO event_id, actor, reason, at FROM events
        WHERE job_id = of_job AND step_id IS NULL AND events.to_status = job.status;
    END
    $$
    """,
    """
    CREATE FUNCTION cancel_job(
        of_job uuid, by_actor text, why text,
        OUT outcome text, OUT status text, OUT event_id uuid, OUT actor text, OUT reason text, OUT at timestamptz
    )
    LANGUAGE sql SET search_path = public, pg_temp AS $$
        SELECT * FROM end_job(of_job, 'canceled', by_actor, why)
    $$
    """,
)


def upgrade() -> None:
    """Add a column, an index and two functions."""
    for statement in _STATEMENTS:
        op.execute(statement)
