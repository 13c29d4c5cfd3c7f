"""Tells a process at once that a job it works for has ended, so that its call is given up and none is begun.

The transaction that ends a job sends a notification where a step of it is held (NOTIFY is delivered at the commit,
PostgreSQL manual, NOTIFY). It is heard over a connection of its own, in a thread of its own; without either, the
claim's next renewal finds the same.
"""

import contextlib
import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

import psycopg

from headway.contract import DatabaseSecret
from headway.jobs.database import first_line
from headway.jobs.notices import ended_among, ends_told, listening

logger = logging.getLogger(__name__)

#: Ends that were heard before anybody asked for them: a job may end between a claim and the wait for its call.
_REMEMBERED = 1_000
#: Wall seconds until a lost connection is replaced, and for which one is listened to before it is asked for a sign.
_AGAIN_S = 1.0
_SILENCE_S = 30.0


class Endings:
    """Hears of jobs that end; its thread and its connection begin with the first job that is watched."""

    def __init__(self, database: DatabaseSecret) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._watched: dict[UUID, list[Callable[[], object]]] = {}
        self._ended: OrderedDict[UUID, None] = OrderedDict()
        self._pid = 0

    @contextlib.contextmanager
    def watching(self, job_id: UUID, give_up: Callable[[], object]) -> Iterator[None]:
        """Call ``give_up``, from another thread, if the job has ended or ends before the block does."""
        with self._lock:
            self._watched.setdefault(job_id, []).append(give_up)
            heard = job_id in self._ended
            self._begin()
        if heard:
            give_up()
        try:
            yield
        finally:
            with self._lock:
                waiting = self._watched[job_id]
                waiting.remove(give_up)
                if not waiting:
                    del self._watched[job_id]

    def _begin(self) -> None:
        if self._pid != os.getpid():  # a pool's child has none of its parent's threads
            self._pid = os.getpid()
            threading.Thread(target=self._listen, name="endings", daemon=True).start()

    def _listen(self) -> None:
        away = False
        while True:
            try:
                with listening(self._database) as connection:
                    away = False
                    # Whatever ended before the first notification could come.
                    self._hear(ended_among(connection, self._jobs()))
                    while True:
                        for job_id in ends_told(connection, for_s=_SILENCE_S):
                            self._hear([job_id])
            except psycopg.Error as error:
                if not away:  # once an outage: every process of the pool tries each second
                    logger.warning("ends of jobs are not heard for a while: job store: %s", first_line(error))
                away = True
            time.sleep(_AGAIN_S)

    def _jobs(self) -> list[UUID]:
        with self._lock:
            return list(self._watched)

    def _hear(self, job_ids: Sequence[UUID]) -> None:
        with self._lock:
            for job_id in job_ids:
                self._ended[job_id] = None
            while len(self._ended) > _REMEMBERED:
                self._ended.popitem(last=False)
            waiting = [give_up for job_id in job_ids for give_up in self._watched.get(job_id, ())]
        for give_up in waiting:
            give_up()
