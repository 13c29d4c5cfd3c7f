"""How does a process reach the job store?"""

import psycopg
import sqlalchemy as sa

from headway.contract import DatabaseSecret

#: A database that answers nothing at all is given up after seconds, not after the kernel's quarter of an hour
#: (PostgreSQL manual, 32.1.2 Parameter Key Words; milliseconds, and seconds for the keepalives).
SILENCE = {"connect_timeout": 5, "tcp_user_timeout": 10_000, "keepalives_idle": 10, "keepalives_interval": 5}
#: A lock is held for milliseconds, never during a model call, so a longer wait is a fault to report.
SESSION = "-c lock_timeout=10s -c idle_in_transaction_session_timeout=15s -c timezone=UTC"


class JobStoreError(Exception):
    """PostgreSQL does not answer, or holds no job store; the message is one line."""


def connect(secret: DatabaseSecret, *, ping: bool = True) -> sa.Engine:
    """Return an engine; it opens no connection yet, so that a worker can build it before it forks.

    One connection is kept: a worker's slot runs one transaction at a time. With ``ping``, a connection is asked for a
    sign of life before each transaction, and replaced where it gives none.
    """
    url = sa.URL.create(
        "postgresql+psycopg",
        username=secret.username,
        password=secret.password,
        host=secret.host,
        port=secret.port,
        database=secret.dbname,
    )
    return sa.create_engine(
        url,
        pool_size=1,
        max_overflow=4,
        pool_pre_ping=ping,
        connect_args={**SILENCE, "options": SESSION},
    )


def at_once(engine: sa.Engine) -> sa.Connection:
    """Return a connection whose statements are transactions: one round trip each."""
    return engine.execution_options(isolation_level="AUTOCOMMIT").connect()


def check(engine: sa.Engine) -> None:
    """Ask for the job store's newest part.

    Raises:
        JobStoreError: PostgreSQL does not answer, or was not upgraded.
    """
    try:
        with engine.connect() as connection:
            if connection.scalar(sa.text("SELECT to_regprocedure('bury_step(uuid, text, text)')")) is None:
                raise JobStoreError("job store: not upgraded; run `python -m headway.jobs upgrade`")
    except sa.exc.OperationalError as error:
        raise JobStoreError(f"job store: {first_line(error)}") from None


def first_line(error: sa.exc.DBAPIError | psycopg.Error) -> str:
    """Return the database's own words, without the statement and its parameters."""
    own = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    return str(own).strip().partition("\n")[0]
