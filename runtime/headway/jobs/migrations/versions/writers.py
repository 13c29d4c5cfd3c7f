"""Functions are the only writers of jobs and steps: the application's role may not update either table itself.

Each locks the job's row first and the step's second, then looks, then writes, with one event for each transition. FOR
SHARE lets the steps of a job move side by side and waits for whoever ends it; a step that may end its job takes FOR NO
KEY UPDATE, which is alone but for foreign keys' checks (PostgreSQL manual, 13.3.2 Row-Level Locks). A
statement sees what was committed before it began (13.2.1), so the one that waits for a lock is never the one that
looks. Times are greatest(updated_at, clock_timestamp()): now() is the transaction's beginning, and would stamp the
past after a wait.
"""

from alembic import op

revision = "0004"
down_revision = "0003"

_FUNCTIONS = (
    # A snapshot that is older than the lock would hide what the lock waited for.
    """
    CREATE FUNCTION read_committed_only() RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        IF current_setting('transaction_isolation') <> 'read committed' THEN
            RAISE EXCEPTION 'isolation level %: must be read committed', current_setting('transaction_isolation');
        END IF;
    END
    $$
    """,
    """
    CREATE FUNCTION lock_job(of_job uuid) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN
        RETURN (SELECT status FROM jobs WHERE id = of_job FOR NO KEY UPDATE);
    END
    $$
    """,
    """
    CREATE FUNCTION begin_job(of_job uuid, OUT status text, OUT drawing_key text) LANGUAGE plpgsql AS $$
    DECLARE
        job jobs;
        moment timestamptz;
    BEGIN
        SELECT * INTO job FROM jobs WHERE id = of_job FOR NO KEY UPDATE;
        status := job.status;
        drawing_key := job.drawing_key;
        IF job.status = 'pending' THEN
            status := 'running';
            moment := greatest(job.updated_at, clock_timestamp());
            UPDATE jobs SET status = 'running', updated_at = moment, started_at = moment WHERE id = of_job;
            INSERT INTO events (job_id, from_status, to_status, at) VALUES (of_job, 'pending', 'running', moment);
        END IF;
    END
    $$
    """,
    # attempt is what the claim counted it up to; held_s how long somebody else's still holds.
    """
    CREATE FUNCTION claim_step(
        of_step uuid, lease_s double precision,
        OUT outcome text, OUT job_id uuid, OUT status text, OUT attempt integer, OUT check_name text,
        OUT image_key text, OUT held_s double precision
    ) LANGUAGE plpgsql AS $$
    DECLARE
        step steps;
        moment timestamptz;
    BEGIN
        SELECT steps.job_id INTO job_id FROM steps WHERE id = of_step;
        IF NOT FOUND THEN
            outcome := 'unknown';
            RETURN;
        END IF;
        SELECT jobs.status INTO status FROM jobs WHERE id = claim_step.job_id FOR SHARE;
        IF status NOT IN ('pending', 'running') THEN
            outcome := 'job ended';
            RETURN;
        END IF;
        SELECT * INTO step FROM steps WHERE id = of_step FOR NO KEY UPDATE;
        status := step.status;
        held_s := extract(epoch FROM step.lease_until - clock_timestamp());
        IF step.status NOT IN ('pending', 'running') THEN
            outcome := 'step ended';
        ELSIF step.status = 'running' AND held_s > 0 THEN
            outcome := 'held';
        ELSE
            outcome := 'claimed';
            attempt := step.attempt + 1;
            check_name := step.check_name;
            SELECT blocks.image_key INTO image_key FROM blocks WHERE id = step.block_id;
            moment := greatest(step.updated_at, clock_timestamp());
            UPDATE steps SET status = 'running', attempt = claim_step.attempt, reason = NULL, updated_at = moment,
                started_at = moment, lease_until = clock_timestamp() + make_interval(secs => lease_s)
            WHERE id = of_step;
            INSERT INTO events (job_id, step_id, from_status, to_status, attempt, at)
            VALUES (claim_step.job_id, of_step, step.status, 'running', claim_step.attempt, moment);
        END IF;
    END
    $$
    """,
    """
    CREATE FUNCTION renew_step(of_step uuid, at_attempt integer, lease_s double precision) RETURNS boolean
    LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM 1 FROM jobs WHERE id = (SELECT job_id FROM steps WHERE id = of_step)
            AND status IN ('pending', 'running') FOR SHARE;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
        UPDATE steps SET updated_at = greatest(updated_at, clock_timestamp()),
            lease_until = clock_timestamp() + make_interval(secs => lease_s)
        WHERE id = of_step AND attempt = at_attempt AND status = 'running';
        RETURN FOUND;
    END
    $$
    """,
    # Ends a claim in a transaction that has locked its job already; not for callers.
    """
    CREATE FUNCTION end_claim(
        of_step uuid, at_attempt integer, to_status text, answer jsonb, why text, paid jsonb, job_open boolean
    ) RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE
        of_job uuid;
        moment timestamptz;
        taken boolean := false;
    BEGIN
        IF job_open THEN
            SELECT job_id, greatest(updated_at, clock_timestamp()) INTO of_job, moment FROM steps
            WHERE id = of_step AND attempt = at_attempt AND status = 'running' FOR NO KEY UPDATE;
            taken := FOUND;
        END IF;
        IF taken THEN
            UPDATE steps SET status = to_status, result = answer, reason = why, lease_until = NULL,
                updated_at = moment, finished_at = CASE WHEN to_status <> 'pending' THEN moment END
            WHERE id = of_step;
            INSERT INTO events (job_id, step_id, from_status, to_status, attempt, reason, at)
            VALUES (of_job, of_step, 'running', to_status, at_attempt, why, moment);
        END IF;
        -- Each call comes under an id that is its own: written again after a COMMIT without an answer, it is there.
        INSERT INTO calls (id, job_id, step_id, attempt, outcome, accepted, latency_s, input_tokens, output_tokens,
            cost_usd, rate_limited, in_flight_at_start)
        SELECT call.id, steps.job_id, of_step, at_attempt, call.outcome,
            call.accepted AND taken AND to_status = 'succeeded', latency_s, input_tokens, output_tokens,
            cost_usd, rate_limited, in_flight_at_start
        FROM steps, jsonb_to_recordset(paid) AS call (
            id uuid, outcome text, accepted boolean, latency_s double precision, input_tokens integer,
            output_tokens integer, cost_usd numeric, rate_limited integer, in_flight_at_start integer)
        WHERE steps.id = of_step
        ON CONFLICT DO NOTHING;
        RETURN taken;
    END
    $$
    """,
    """
    CREATE FUNCTION release_step(of_step uuid, at_attempt integer, why text, paid jsonb) RETURNS boolean
    LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM 1 FROM jobs WHERE id = (SELECT job_id FROM steps WHERE id = of_step)
            AND status IN ('pending', 'running') FOR SHARE;
        RETURN end_claim(of_step, at_attempt, 'pending', NULL, why, paid, FOUND);
    END
    $$
    """,
    # Whether a step has still to be claimed before the job can end.
    """
    CREATE FUNCTION others_wait(of_job uuid, of_step uuid) RETURNS boolean LANGUAGE sql AS $$
        SELECT EXISTS (SELECT FROM steps WHERE job_id = of_job AND status = 'pending' AND id <> of_step)
    $$
    """,
    # A step behind which another waits to be claimed cannot be the job's last: it goes FOR SHARE, beside others. Who
    # claims that other finishes it later, and so looks later; the last of all finds nobody waiting and is alone, so
    # that it sees every end before its own. A lock is never made stronger, or two could wait for each other: the weak
    # one is given back with its block.
    """
    CREATE FUNCTION finish_step(
        of_step uuid, at_attempt integer, to_status text, answer jsonb, why text, paid jsonb
    ) RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE
        of_job uuid;
        job jobs;
        accepted boolean;
    BEGIN
        PERFORM read_committed_only();
        SELECT job_id INTO of_job FROM steps WHERE id = of_step;
        IF others_wait(of_job, of_step) THEN
            BEGIN
                SELECT * INTO job FROM jobs WHERE id = of_job FOR SHARE;
                IF others_wait(of_job, of_step) THEN
                    RETURN end_claim(
                        of_step, at_attempt, to_status, answer, why, paid, job.status IN ('pending', 'running'));
                END IF;
                RAISE EXCEPTION 'nobody waits any more' USING ERRCODE = 'HW001';
            EXCEPTION WHEN SQLSTATE 'HW001' THEN
                NULL;
            END;
        END IF;
        SELECT * INTO job FROM jobs WHERE id = of_job FOR NO KEY UPDATE;
        accepted := end_claim(of_step, at_attempt, to_status, answer, why, paid, job.status IN ('pending', 'running'));
        IF accepted THEN
            PERFORM complete_job(job);
        END IF;
        RETURN accepted;
    END
    $$
    """,
    """
    CREATE FUNCTION complete_job(job jobs) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        failures bigint;
        moment timestamptz := greatest(job.updated_at, clock_timestamp());
        last_status text;
        why text;
    BEGIN
        IF EXISTS (SELECT FROM steps WHERE job_id = job.id AND status IN ('pending', 'running')) THEN
            RETURN;
        END IF;
        SELECT count(*) INTO failures FROM steps WHERE job_id = job.id AND status = 'failed';
        last_status := CASE WHEN failures > 0 THEN 'failed' ELSE 'succeeded' END;
        why := CASE WHEN failures > 0 THEN failures || ' of its steps failed' END;
        UPDATE jobs SET status = last_status, reason = why, updated_at = moment, finished_at = moment
        WHERE id = job.id AND status IN ('pending', 'running');
        IF FOUND THEN
            INSERT INTO events (job_id, from_status, to_status, reason, at)
            VALUES (job.id, job.status, last_status, why, moment);
        END IF;
    END
    $$
    """,
)

#: The group that every login of the application belongs to. Roles are the server's, so another database of it may have
#: made this one.
_ROLE = """
    DO $$
    BEGIN
        CREATE ROLE headway_app NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL;
    END
    $$
"""

_CALLED = (
    "lock_job(uuid)",
    "begin_job(uuid)",
    "claim_step(uuid, double precision)",
    "renew_step(uuid, integer, double precision)",
    "release_step(uuid, integer, text, jsonb)",
    "finish_step(uuid, integer, text, jsonb, text, jsonb)",
    "end_job(uuid, text, text, text)",
    "cancel_job(uuid, text, text)",
)
_INNER = (
    "read_committed_only()",
    "others_wait(uuid, uuid)",
    "end_claim(uuid, integer, text, jsonb, text, jsonb, boolean)",
    "complete_job(jobs)",
)

_SEALED = (
    *(f"ALTER FUNCTION {function} SET search_path = public, pg_temp" for function in (*_CALLED, *_INNER)),
    # Called with the rights of the tables' owner; a schema that a caller puts before ours changes nothing.
    *(f"ALTER FUNCTION {function} SECURITY DEFINER" for function in _CALLED),
)

_RIGHTS = (
    "GRANT SELECT ON ALL TABLES IN SCHEMA public TO headway_app",
    "GRANT INSERT ON jobs, blocks, events TO headway_app",
    # A step begins as a pending one.
    "GRANT INSERT (id, job_id, block_id, check_name) ON steps TO headway_app",
    "GRANT UPDATE ON call_quota TO headway_app",
    "GRANT INSERT, UPDATE, DELETE ON call_leases TO headway_app",
    # By default everybody may call a new function (PostgreSQL manual, 5.8 Privileges).
    *(f"REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC" for function in (*_CALLED, *_INNER)),
    *(f"GRANT EXECUTE ON FUNCTION {function} TO headway_app" for function in _CALLED),
)


def upgrade() -> None:
    """Add the functions, and the role that may call them."""
    for statement in (*_FUNCTIONS, *_SEALED, _ROLE, *_RIGHTS):
        op.execute(statement)
