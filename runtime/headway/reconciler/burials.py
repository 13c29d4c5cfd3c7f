"""Fails what ended among the dead letters: no worker will ever take it, and its job would wait for the idle limit."""

import logging

import sqlalchemy as sa

from headway.jobs import fail_job
from headway.jobs.watchdog import RECONCILER, bury_step
from headway.producer.broker import BLOCKSPLIT, RUN_STEP
from headway.reconciler.counts import Counts
from headway.reconciler.lanes import Lanes

logger = logging.getLogger(__name__)


def bury(engine: sa.Engine, lanes: Lanes, counts: Counts) -> None:
    """Fail each dead letter's step, or its job where it was to be split.

    Raises:
        OperationalError: the job store does not answer.
        BotoCoreError, ClientError: a dead-letter queue does not.
    """
    for letter, found in lanes.dead_letters():
        reason = f"its message is among the dead letters: {found}"
        failed = (letter.task == RUN_STEP and bury_step(engine, letter.id, reason)) or (
            letter.task == BLOCKSPLIT and fail_job(engine, letter.id, reason, actor=RECONCILER)
        )
        if failed:
            logger.info("%s %s failed: %s", letter.task, letter.id, reason)
            counts.buried += 1
