"""What befalls a job store."""

import contextlib
import dataclasses
from collections.abc import Iterator

import sqlalchemy as sa

from headway.contract import DatabaseSecret
from headway.jobs import connect


@contextlib.contextmanager
def job_store_away(owner: DatabaseSecret) -> Iterator[None]:
    """Cut every connection to the job store's database, and refuse new ones."""
    name = owner.dbname
    elsewhere = connect(dataclasses.replace(owner, dbname="template1")).execution_options(isolation_level="AUTOCOMMIT")
    with elsewhere.connect() as connection:
        connection.execute(sa.text(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'))
        connection.execute(
            sa.text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name"), {"name": name}
        )
        try:
            yield
        finally:
            connection.execute(sa.text(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true'))
    elsewhere.dispose()
