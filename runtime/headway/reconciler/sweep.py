"""Cancels jobs in which nothing has shown a sign of life for the idle limit, one transaction a job.

Reconcilers may run side by side: a job that one of them holds is skipped by the others.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import sqlalchemy as sa

from headway.jobs.database import at_once, first_line
from headway.jobs.watchdog import Swept, is_silent, silent_jobs, sweep_statement
from headway.reconciler.counts import Counts

logger = logging.getLogger(__name__)

_BATCH = 500
#: Connections that sweep at the same time: a job costs the database little, and its round trip much.
_SIDE_BY_SIDE = 4


def sweep(engine: sa.Engine, counts: Counts, *, lanes_empty: bool, idle_s: float, reason: str) -> None:
    """Cancel every silent job; ``idle_s`` is wall seconds.

    Raises:
        OperationalError: the job store does not answer.
    """
    with ThreadPoolExecutor(_SIDE_BY_SIDE, thread_name_prefix="sweep") as threads:

        def one_part(jobs: Sequence[UUID]) -> Counter[str]:
            return _swept(engine, jobs, lanes_empty=lanes_empty, idle_s=idle_s, reason=reason)

        for batch in silent_jobs(engine, idle_s=idle_s, batch=_BATCH):
            for done in threads.map(one_part, [batch[part::_SIDE_BY_SIDE] for part in range(_SIDE_BY_SIDE)]):
                counts.swept += done[Swept.SWEPT]
                counts.reprieved += done[Swept.REPRIEVED]
                counts.errors += done["error"]


def would_sweep(engine: sa.Engine, counts: Counts, *, lanes_empty: bool, idle_s: float) -> None:
    """Note every job that a sweep would cancel now, and cancel none."""
    for batch in silent_jobs(engine, idle_s=idle_s, batch=_BATCH):
        silent = [job for job in batch if is_silent(engine, job, lanes_empty=lanes_empty, idle_s=idle_s)]
        counts.would_sweep += silent
        counts.reprieved += len(batch) - len(silent)


def _swept(engine: sa.Engine, jobs: Sequence[UUID], *, lanes_empty: bool, idle_s: float, reason: str) -> Counter[str]:
    done: Counter[str] = Counter()
    if not jobs:
        return done
    with at_once(engine) as connection:
        for job in jobs:
            statement = sweep_statement(job, lanes_empty=lanes_empty, idle_s=idle_s, reason=reason)
            try:
                became = Swept(connection.scalar(statement))
            except sa.exc.DBAPIError as error:
                if error.connection_invalidated:
                    raise
                logger.warning("job %s not swept: %s", job, first_line(error))
                done["error"] += 1
            else:
                done[became] += 1
                if became is Swept.SWEPT:
                    logger.info("job %s canceled: %s", job, reason)
    return done
