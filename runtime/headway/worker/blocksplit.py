"""Cuts a job's drawing into blocks, and sends one message for each step.

Blocks and steps are written in one transaction before anything is sent. A delivery after a crash finds them and sends
what is still pending; a step that was sent twice is claimed once.
"""

import logging
import math
from collections.abc import Callable
from uuid import UUID

import botocore.exceptions
import kombu.exceptions
from celery.exceptions import SoftTimeLimitExceeded

from headway.contract import BLOCKS_PREFIX
from headway.jobs import NewBlock, begin_job, fail_job, pending_steps, save_blocks
from headway.jobs.states import ACTIVE_JOB
from headway.vision.image import DrawingError, open_pages, to_png
from headway.worker.resources import Resources
from headway.worker.verdicts import BuryError, HandBackError

logger = logging.getLogger(__name__)

#: Stage seconds until a blocksplit that could not reach its bucket or a lane is tried again.
_AGAIN_S = 30.0
_AWS_ERRORS = (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError)


def blocksplit(job_id: UUID, resources: Resources, send: Callable[[UUID], None]) -> None:
    """Split the job's drawing and ``send`` each pending step's id.

    A drawing that cannot be worked on fails its job with the reason; other jobs go on.

    Raises:
        BuryError: there is no such job.
        HandBackError: the bucket or the steps' lane cannot be reached.
    """
    begun = begin_job(resources.engine, job_id)
    if begun is None:
        raise BuryError(f"job {job_id} not found")
    status, drawing_key = begun
    if status not in ACTIVE_JOB:
        logger.info("job %s %s; dropped", job_id, status)
        return
    waiting = pending_steps(resources.engine, job_id)
    if waiting is None:
        try:
            _cut(job_id, drawing_key, resources)
        except (DrawingError, SoftTimeLimitExceeded, MemoryError) as error:
            reason = str(error) if isinstance(error, DrawingError) else f"the drawing is too much to split: {error!r}"
            logger.info("job %s failed: %s", job_id, reason)
            fail_job(resources.engine, job_id, reason)
            return
        waiting = pending_steps(resources.engine, job_id)
    try:
        for step_id in waiting or ():
            send(step_id)
    except (kombu.exceptions.KombuError, *_AWS_ERRORS) as error:
        raise HandBackError(f"lane: {error}", math.ceil(resources.clock.wall(_AGAIN_S))) from None


def _cut(job_id: UUID, drawing_key: str, resources: Resources) -> None:
    try:
        found = resources.splitter(open_pages(resources.read(drawing_key)))
        blocks = []
        for number, block in enumerate(found, start=1):
            key = f"{BLOCKS_PREFIX}{job_id}/{number}.png"
            resources.write_png(key, to_png(block.image))
            blocks.append(NewBlock(number=number, page=block.page, box=block.box, image_key=key))
    except _AWS_ERRORS as error:
        if isinstance(error, botocore.exceptions.ClientError) and error.response["Error"]["Code"] == "NoSuchKey":
            raise DrawingError(f"the drawing is gone: {drawing_key}") from None
        raise HandBackError(f"bucket: {error}", math.ceil(resources.clock.wall(_AGAIN_S))) from None
    save_blocks(resources.engine, job_id, blocks, list(resources.checks))
