"""Two transactions, step by step: each side says one thing at a time, and may be seen to wait for the other."""

import contextlib
import uuid
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg

from headway.contract import DatabaseSecret
from tests.runtime.support.waiting import until

IDLE_S = 3600


def connected(secret: DatabaseSecret) -> psycopg.Connection[Any]:
    """Return a connection whose statements are transactions until one is begun."""
    return psycopg.connect(
        host=secret.host,
        port=secret.port,
        dbname=secret.dbname,
        user=secret.username,
        password=secret.password,
        autocommit=True,
    )


class Side:
    """One connection with a thread of its own."""

    def __init__(self, secret: DatabaseSecret, watcher: psycopg.Connection[Any]) -> None:
        self._connection, self._watcher = connected(secret), watcher
        self._thread = ThreadPoolExecutor(1)

    def says(self, statement: str) -> Any:
        """Run a statement and return its one value, or None."""
        return self.begins(statement).result(30)

    def begins(self, statement: str) -> "Future[Any]":
        """Run a statement without waiting for it."""
        return self._thread.submit(self._run, statement)

    def waits(self) -> None:
        """Wait until the server says that this side waits for a lock."""
        waiting = "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s"
        pid = self._connection.info.backend_pid
        until(lambda: self._watcher.execute(waiting, (pid,)).fetchone() == (True,), what="the wait for a lock")

    def _run(self, statement: str) -> Any:
        cursor = self._connection.execute(statement)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None

    def close(self) -> None:
        """Roll back what is left, and hang up."""
        self._thread.shutdown()
        self._connection.close()


@dataclass(frozen=True, kw_only=True)
class Ring:
    """A job that was silent for two hours, its one held step, a worker, a reconciler, and an owner who looks on."""

    job: UUID
    step: UUID
    worker: Side
    reconciler: Side
    onlooker: Side
    owner: psycopg.Connection[Any]

    @property
    def finish(self) -> str:
        """The worker's answer."""
        return f"SELECT finish_step('{self.step}', 1, 'succeeded', '{{}}', NULL, '[]')"

    @property
    def renew(self) -> str:
        """The worker's beat."""
        return f"SELECT renew_step('{self.step}', 1, 60)"

    @property
    def sweep(self) -> str:
        """The reconciler's act."""
        return f"SELECT sweep_job('{self.job}', true, {IDLE_S}, 'reconciler', 'silent')"

    @property
    def cancel(self) -> str:
        """The button."""
        return f"SELECT outcome FROM cancel_job('{self.job}', 'a person', 'changed my mind')"

    def read(self, expression: str) -> Any:
        """Return an expression over the job and its step, as everybody sees them."""
        query = f"SELECT {expression} FROM jobs JOIN steps ON job_id = jobs.id WHERE steps.id = '{self.step}'"
        row = self.owner.execute(query).fetchone()
        assert row is not None
        return row[0]


@contextlib.contextmanager
def ring(owner: DatabaseSecret, application: DatabaseSecret) -> Iterator[Ring]:
    """Set the ring up."""
    job, step = uuid.uuid4(), uuid.uuid4()
    with connected(owner) as looker:
        looker.execute(
            "INSERT INTO jobs (id, name, drawing_key, status, created_at, updated_at, started_at)"
            " SELECT %s, 'race', 'race', 'running', at, at, at FROM (SELECT now() - interval '2 h' AS at) AS times",
            (job,),
        )
        looker.execute(
            "INSERT INTO blocks (id, job_id, number, page, box, image_key, created_at)"
            " VALUES (%s, %s, 1, 1, '[0, 0, 1, 1]', 'race', now() - interval '2 h')",
            (job, job),
        )
        looker.execute(
            "INSERT INTO steps (id, job_id, block_id, check_name, status, attempt, lease_until, created_at, updated_at)"
            " SELECT %s, %s, %s, 'bars', 'running', 1, at, at, at FROM (SELECT now() - interval '2 h' AS at) AS times",
            (step, job, job),
        )
        sides = [Side(secret, looker) for secret in (application, application, owner)]
        try:
            yield Ring(job=job, step=step, worker=sides[0], reconciler=sides[1], onlooker=sides[2], owner=looker)
        finally:
            for side in sides:
                side.close()
