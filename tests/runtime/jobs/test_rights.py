"""What the application's own login may not do to jobs, on real PostgreSQL."""

import pytest
import sqlalchemy as sa

from tests.runtime.jobs.cases import cut_job

_SELF = """
    SELECT rolsuper, pg_has_role(session_user, 'headway_app', 'USAGE') FROM pg_roles WHERE rolname = session_user
"""


def test_the_application_connects_as_itself(engine: sa.Engine) -> None:
    """Not as the owner, and not as a superuser."""
    with engine.connect() as connection:
        told = connection.execute(sa.text(_SELF)).one()
    assert told == (False, True)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE steps SET status = 'succeeded'",
        "UPDATE steps SET updated_at = now()",
        "UPDATE jobs SET status = 'succeeded'",
        "UPDATE events SET actor = 'nobody'",
        "UPDATE calls SET cost_usd = 0",
        "DELETE FROM steps",
        "DELETE FROM calls",
        "TRUNCATE events",
        "INSERT INTO steps (job_id, block_id, check_name, status) SELECT job_id, block_id, 'x', 'succeeded' FROM steps",
        "SELECT status FROM jobs FOR UPDATE",
        "SELECT complete_job(jobs) FROM jobs",
        "ALTER FUNCTION cancel_job(uuid, text, text) RENAME TO cancel",
    ],
)
def test_jobs_and_steps_change_by_functions_alone(engine: sa.Engine, statement: str) -> None:
    """Each of these is refused, whatever the row."""
    cut_job(engine)
    with (
        engine.begin() as connection,
        pytest.raises(sa.exc.ProgrammingError, match=r"permission denied|must be owner"),
    ):
        connection.execute(sa.text(statement))


def test_a_forgotten_transaction_ends_by_itself(engine: sa.Engine) -> None:
    """Nobody holds a job's lock for long: a wait for a lock, and an idle transaction, are cut off by the server."""
    with engine.connect() as connection:
        settings = {
            name: connection.scalar(sa.text(f"SHOW {name}"))
            for name in ("lock_timeout", "idle_in_transaction_session_timeout")
        }
    assert settings == {"lock_timeout": "10s", "idle_in_transaction_session_timeout": "15s"}
