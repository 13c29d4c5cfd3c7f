"""Sends messages that were lost once more: once for each attempt of a step, and once for a job.

A sender whose COMMIT had no answer, or that died before it sent, leaves a row that no message leads to. The row is
marked first and sent after, so that a crash in between sends nothing rather than twice; the idle limit ends what is
lost again.
"""

import logging
from collections.abc import Callable, Sequence
from uuid import UUID

import botocore.exceptions
import kombu.exceptions
import sqlalchemy as sa

from headway.jobs.watchdog import lost_jobs, lost_steps, requeue_job, requeue_step
from headway.reconciler.counts import Counts
from headway.reconciler.lanes import Lanes

logger = logging.getLogger(__name__)

#: Rows of each kind in one run, so that a run ends; the next one goes on.
_MOST = 1_000
_UNSENT = (kombu.exceptions.KombuError, botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError)


def requeue(engine: sa.Engine, lanes: Lanes, counts: Counts, *, lanes_empty: bool, lease_s: float) -> None:
    """Send each lost job's and step's message; ``lease_s`` is wall seconds.

    Raises:
        OperationalError: the job store does not answer.
    """
    jobs = lost_jobs(engine, lanes_empty=lanes_empty, lease_s=lease_s, limit=_MOST)
    steps = lost_steps(engine, lanes_empty=lanes_empty, lease_s=lease_s, limit=_MOST)

    def marked_job(job: UUID) -> bool:
        return requeue_job(engine, job, lanes_empty=lanes_empty, lease_s=lease_s)

    def marked_step(step: UUID) -> bool:
        return requeue_step(engine, step, lanes_empty=lanes_empty, lease_s=lease_s)

    _send("job", jobs, marked_job, lanes.send_job, counts)
    _send("step", steps, marked_step, lanes.send_step, counts)


def would_requeue(engine: sa.Engine, counts: Counts, *, lanes_empty: bool, lease_s: float) -> None:
    """Note every job and step whose message a run would send now, and send none."""
    for lost in (lost_jobs, lost_steps):
        counts.would_requeue += lost(engine, lanes_empty=lanes_empty, lease_s=lease_s, limit=_MOST)


def _send(
    kind: str, ids: Sequence[UUID], mark: Callable[[UUID], bool], send: Callable[[UUID], None], counts: Counts
) -> None:
    for each in filter(mark, ids):
        try:
            send(each)
        except _UNSENT as error:
            logger.warning("%s %s: its message could not be sent once more: %s", kind, each, error)
            counts.errors += 1
        else:
            logger.info("%s %s: its message was lost and is sent once more", kind, each)
            counts.requeued += 1
