"""What the job store tells whoever listens: the jobs that ended while somebody held a step of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg

from headway.contract import DatabaseSecret
from headway.jobs.database import SESSION, SILENCE


@contextmanager
def listening(secret: DatabaseSecret) -> Iterator[psycopg.Connection[Any]]:
    """Open a connection of its own that is told of every job that ends from now on.

    Raises:
        psycopg.Error: the job store does not answer.
    """
    with psycopg.connect(
        host=secret.host,
        port=secret.port,
        dbname=secret.dbname,
        user=secret.username,
        password=secret.password,
        autocommit=True,
        options=SESSION,
        **SILENCE,  # type: ignore[arg-type]  # psycopg's keywords are libpq's too
    ) as connection:
        connection.execute("LISTEN headway_job_ended")
        yield connection


def ends_told(connection: psycopg.Connection[Any], *, for_s: float) -> Iterator[UUID]:
    """Yield jobs as their ends are told, for so many wall seconds; then ask the connection for a sign of life.

    Raises:
        psycopg.Error: it gives none.
    """
    for notice in connection.notifies(timeout=for_s):
        yield UUID(notice.payload)
    connection.execute("SELECT 1")


def ended_among(connection: psycopg.Connection[Any], job_ids: Sequence[UUID]) -> list[UUID]:
    """Return those of the jobs that have ended.

    Raises:
        psycopg.Error: the job store does not answer.
    """
    found = connection.execute(
        "SELECT id FROM jobs WHERE id = ANY(%s) AND status NOT IN ('pending', 'running')", (list(job_ids),)
    )
    return [row[0] for row in found]
