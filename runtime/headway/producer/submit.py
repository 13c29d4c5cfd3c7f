"""Takes a drawing in: checked, stored, written down as a job, and only then sent."""

import logging
import re
import uuid
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING

import boto3
import botocore.config
import botocore.exceptions
import celery
import kombu.exceptions
import sqlalchemy as sa

from headway.contract import DRAWINGS_PREFIX, DatabaseSecret, ProducerEnv
from headway.jobs import connect, create_job, fail_job
from headway.jobs.database import first_line
from headway.producer.broker import BLOCKSPLIT, sender_settings
from headway.producer.routing import choose_lane
from headway.vision.image import open_pages

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

logger = logging.getLogger(__name__)

_S3 = botocore.config.Config(connect_timeout=3, read_timeout=20, retries={"total_max_attempts": 3})
#: An S3 key is at most 1,024 bytes; the name is the tail of it that people see.
_NAME_LENGTH = 120


class SubmitError(Exception):
    """The drawing is fine but could not be stored or sent; the message is one line."""


class Producer:
    """Submits drawings to one stage. Make it once; it may be used by one thread at a time.

    Raises:
        ContractError: the stage's main lane has no queue.
    """

    def __init__(self, env: ProducerEnv, secret: DatabaseSecret) -> None:
        self._env = env
        self._app = celery.Celery("headway.producer", set_as_current=False)
        self._app.conf.update(sender_settings(env))
        self._engine = connect(secret)
        self._route = choose_lane(env.fast_queue, main_lane=env.main_lane, lanes=env.queue_urls)
        if self._route.warning:
            logger.warning(self._route.warning)

    @cached_property
    def _s3(self) -> "S3Client":
        return boto3.client("s3", region_name=self._env.region, config=_S3)

    def submit(self, data: bytes, name: str) -> uuid.UUID:
        """Store a drawing (PNG or PDF) and send its job; return the job's id.

        Raises:
            headway.vision.image.DrawingError: the file cannot be worked on; nothing was stored.
            SubmitError: the bucket, the job store or the lane cannot be reached; a job that exists is failed.
        """
        open_pages(data)
        job_id = uuid.uuid4()
        key = f"{DRAWINGS_PREFIX}{job_id}/{safe_name(name)}"
        try:
            self._s3.put_object(Bucket=self._env.drawings_bucket, Key=key, Body=data)
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
            raise SubmitError(f"the drawing could not be stored: {error}") from None
        try:
            create_job(self._engine, job_id=job_id, name=shown_name(name), drawing_key=key)
            self._send(job_id)
        except sa.exc.OperationalError as error:
            raise SubmitError(f"the job store does not answer: {first_line(error)}") from None
        return job_id

    def _send(self, job_id: uuid.UUID) -> None:
        try:
            self._app.send_task(BLOCKSPLIT, args=[str(job_id)], queue=self._route.lane)
        except (
            kombu.exceptions.KombuError,
            botocore.exceptions.BotoCoreError,
            botocore.exceptions.ClientError,
        ) as error:
            # A send that timed out may have arrived: its blocksplit finds the job failed and does nothing.
            reason = f"lane {self._route.lane}: the job could not be sent: {error}"
            fail_job(self._engine, job_id, reason)
            raise SubmitError(reason) from None

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()
        self._app.close()


def shown_name(name: str) -> str:
    r"""Return the file's own name as people see it, without what PostgreSQL or a terminal would choke on.

    >>> shown_name("../plans/Grundriß\x00\x1b[31m.png")
    'Grundriß[31m.png'
    """
    return "".join(character for character in PurePath(name).name if character.isprintable()) or "drawing"


def safe_name(name: str) -> str:
    """Return the file's own name, of characters that every tool takes in an S3 key.

    >>> safe_name("../plans/Level 2 (rev B).png")
    'Level_2_rev_B_.png'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "_", PurePath(name).name)[-_NAME_LENGTH:] or "drawing"
