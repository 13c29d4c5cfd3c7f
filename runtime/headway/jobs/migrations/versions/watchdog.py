"""What the reconciler asks and does: which jobs are silent, whose message is lost, and one job's end in a transaction.

Each function that writes locks and looks again: a look from outside the lock is a reason to come, never to act.
"""

from alembic import op

revision = "0005"
down_revision = "0004"

_STATEMENTS = (
    # The jobs that may be silent, oldest first; those that have ended are in no index, however many they are.
    "CREATE INDEX jobs_open_idx ON jobs (updated_at, id) WHERE status IN ('pending', 'running')",
    "CREATE INDEX steps_pending_idx ON steps (updated_at, id) WHERE status = 'pending'",
    # How far each line has come: the newest of those whose turn it was.
    "CREATE INDEX jobs_begun_idx ON jobs (created_at) WHERE started_at IS NOT NULL",
    "CREATE INDEX steps_claimed_idx ON steps (created_at) WHERE attempt > 0",
    # The attempt before which a message was sent once more: there is no second time.
    "ALTER TABLE steps ADD COLUMN requeued_at_attempt integer",
    "ALTER TABLE jobs ADD COLUMN requeued_at timestamptz",
    # Since when would somebody who still waits have to wait, to have been overtaken? NULL where the lanes are empty:
    # then nobody waits for a turn. A message that others overtook by that much is not coming any more.
    """
    CREATE FUNCTION overtaken_before(lanes_empty boolean, by_s double precision)
    RETURNS TABLE (jobs_before timestamptz, steps_before timestamptz) LANGUAGE sql STABLE AS $$
        SELECT coalesce((SELECT max(created_at) FROM jobs WHERE started_at IS NOT NULL), '-infinity')
                - make_interval(secs => by_s),
            coalesce((SELECT max(created_at) FROM steps WHERE attempt > 0), '-infinity') - make_interval(secs => by_s)
        WHERE NOT lanes_empty
        UNION ALL SELECT 'infinity', 'infinity' WHERE lanes_empty
    $$
    """,
    # The latest sign of life anywhere in a job. Who waits for a turn in a lane is not silent.
    """
    CREATE FUNCTION heartbeat(of_job uuid, lanes_empty boolean, idle_s double precision) RETURNS timestamptz
    LANGUAGE sql VOLATILE AS $$
        SELECT greatest(
            CASE WHEN jobs.status = 'pending' AND jobs.created_at >= jobs_before THEN clock_timestamp()
                ELSE jobs.updated_at END,
            (SELECT max(created_at) FROM blocks WHERE job_id = of_job),
            (SELECT max(CASE WHEN steps.status = 'pending' AND steps.updated_at >= steps_before THEN clock_timestamp()
                ELSE steps.updated_at END) FROM steps WHERE job_id = of_job))
        FROM jobs, overtaken_before(lanes_empty, idle_s) WHERE jobs.id = of_job
    $$
    """,
    # Two statements after the lock's own: in READ COMMITTED each sees what was committed before it began, so a sign
    # of life that the lock waited for, or that came before it, is seen by the second. FOR UPDATE, so that no step of
    # the job can even be written down.
    """
    CREATE FUNCTION sweep_job(
        of_job uuid, lanes_empty boolean, idle_s double precision, by_actor text, why text
    ) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE
        last_sign timestamptz;
    BEGIN
        PERFORM read_committed_only();
        PERFORM 1 FROM jobs WHERE id = of_job AND status IN ('pending', 'running') FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            RETURN 'skipped';
        END IF;
        last_sign := heartbeat(of_job, lanes_empty, idle_s);
        IF last_sign > clock_timestamp() - make_interval(secs => idle_s) THEN
            RETURN 'reprieved';
        END IF;
        PERFORM cancel_job(of_job, by_actor, why);
        RETURN 'swept';
    END
    $$
    """,
    """
    CREATE FUNCTION requeue_step(of_step uuid, lanes_empty boolean, lease_s double precision) RETURNS boolean
    LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM 1 FROM jobs WHERE id = (SELECT job_id FROM steps WHERE id = of_step)
            AND status IN ('pending', 'running') FOR SHARE;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
        UPDATE steps SET requeued_at_attempt = attempt, updated_at = greatest(updated_at, clock_timestamp())
        FROM overtaken_before(lanes_empty, lease_s)
        WHERE id = of_step AND status = 'pending' AND requeued_at_attempt IS DISTINCT FROM attempt
            AND updated_at < clock_timestamp() - make_interval(secs => lease_s) AND updated_at < steps_before;
        RETURN FOUND;
    END
    $$
    """,
    """
    CREATE FUNCTION requeue_job(of_job uuid, lanes_empty boolean, lease_s double precision) RETURNS boolean
    LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE jobs SET requeued_at = greatest(updated_at, clock_timestamp()),
            updated_at = greatest(updated_at, clock_timestamp())
        FROM overtaken_before(lanes_empty, lease_s)
        WHERE id = of_job AND status = 'pending' AND requeued_at IS NULL
            AND updated_at < clock_timestamp() - make_interval(secs => lease_s) AND created_at < jobs_before;
        RETURN FOUND;
    END
    $$
    """,
    # A step whose message is among the dead letters, and that nobody holds. The other steps of its job go on.
    """
    CREATE FUNCTION bury_step(of_step uuid, by_actor text, why text) RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE
        job jobs;
        step steps;
        moment timestamptz;
    BEGIN
        PERFORM read_committed_only();
        SELECT * INTO job FROM jobs WHERE id = (SELECT job_id FROM steps WHERE id = of_step)
            AND status IN ('pending', 'running') FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
        SELECT * INTO step FROM steps WHERE id = of_step FOR NO KEY UPDATE;
        moment := greatest(step.updated_at, clock_timestamp());
        IF step.status NOT IN ('pending', 'running') OR step.lease_until > moment THEN
            RETURN false;
        END IF;
        UPDATE steps SET status = 'failed', reason = why, lease_until = NULL, updated_at = moment, finished_at = moment
        WHERE id = of_step;
        INSERT INTO events (job_id, step_id, from_status, to_status, attempt, actor, reason, at)
        VALUES (job.id, of_step, step.status, 'failed', step.attempt, by_actor, why, moment);
        PERFORM complete_job(job);
        RETURN true;
    END
    $$
    """,
)

_CALLED = (
    "sweep_job(uuid, boolean, double precision, text, text)",
    "requeue_step(uuid, boolean, double precision)",
    "requeue_job(uuid, boolean, double precision)",
    "bury_step(uuid, text, text)",
    "heartbeat(uuid, boolean, double precision)",
    "overtaken_before(boolean, double precision)",
)


def upgrade() -> None:
    """Add what the reconciler needs."""
    for statement in _STATEMENTS:
        op.execute(statement)
    for function in _CALLED:
        op.execute(f"ALTER FUNCTION {function} SECURITY DEFINER SET search_path = public, pg_temp")
        op.execute(f"REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC")
        op.execute(f"GRANT EXECUTE ON FUNCTION {function} TO headway_app")
