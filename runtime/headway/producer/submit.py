"""Takes a drawing in: checked, stored, written down as a job, and only then sent."""

import hashlib
import logging
import re
import uuid
from dataclasses import dataclass
from pathlib import PurePath

import botocore.exceptions
import celery
import kombu.exceptions
import sqlalchemy as sa

from headway.contract import DRAWINGS_PREFIX, DatabaseSecret, ProducerEnv
from headway.jobs import JobStatus, connect, create_job, fail_job
from headway.jobs.database import first_line
from headway.jobs.queries import origin
from headway.producer.broker import BLOCKSPLIT, sender_settings
from headway.producer.drawings import BucketError, Drawings
from headway.producer.routing import choose_lane
from headway.vision.image import check_drawing

logger = logging.getLogger(__name__)

#: The name in a key is the tail of it that people see.
_NAME_LENGTH = 120
#: A name that is longer than any file system's 255 is cut.
_SHOWN_LENGTH = 255
#: Job ids made of idempotency keys are UUIDs of version 5 in this namespace (RFC 9562, 5.5).
_KEYS = uuid.UUID("6f1f7a55-8f0a-4d0e-9f0b-3c8c3f4a7d61")


class SubmitError(Exception):
    """The drawing is fine but could not be stored or sent; the message is one line."""


class KeyReusedError(Exception):
    """The idempotency key was used for another drawing; the message is one line."""


@dataclass(frozen=True, kw_only=True)
class Submitted:
    """A job that was taken in; ``created`` is False where its idempotency key had made it before."""

    job_id: uuid.UUID
    created: bool


class Producer:
    """Submits drawings to one stage. Make it once; it may be used by one thread at a time.

    Raises:
        ContractError: the stage's main lane has no queue.
    """

    def __init__(self, env: ProducerEnv, secret: DatabaseSecret) -> None:
        self.drawings = Drawings(env)
        self._app = celery.Celery("headway.producer", set_as_current=False)
        self._app.conf.update(sender_settings(env))
        self._engine = connect(secret)
        self._route = choose_lane(env.fast_queue, main_lane=env.main_lane, lanes=env.queue_urls)
        if self._route.warning:
            logger.warning(self._route.warning)

    def submit(self, data: bytes, name: str) -> uuid.UUID:
        """Store a drawing (PNG or PDF) and send its job; return the job's id.

        Raises:
            headway.vision.image.DrawingError: the file cannot be worked on; nothing was stored.
            SubmitError: the bucket, the job store or the lane cannot be reached; a job that exists is failed.
        """
        return self.submit_once(data, name).job_id

    def submit_once(self, data: bytes, name: str, *, idempotency_key: str = "") -> Submitted:
        """Submit a drawing as `submit` does; with a key, however often that is repeated there is one job.

        The key makes the job's id, and the drawing's digest is in its own key, so that another drawing shows. A job
        with a key that could not be sent stays pending: the next try sends it.

        Raises:
            headway.vision.image.DrawingError: the file cannot be worked on; nothing was stored.
            KeyReusedError: the key has made a job of another drawing.
            SubmitError: the bucket, the job store or the lane cannot be reached; a job without a key is failed.
        """
        check_drawing(data)
        job_id = _job_id(idempotency_key)
        digest = f"{hashlib.sha256(data).hexdigest()}/" if idempotency_key else ""
        drawing_key = f"{DRAWINGS_PREFIX}{job_id}/{digest}{safe_name(name)}"
        try:
            self.drawings.store(drawing_key, data)
        except BucketError as error:
            raise SubmitError(str(error)) from None
        return self._write_and_send(job_id, name, drawing_key, idempotency_key)

    def submit_stored(self, drawing_key: str, name: str = "", *, idempotency_key: str = "") -> Submitted:
        """Submit a drawing that lies in the stage's bucket already, under ``drawings/``, as `submit_once` does.

        Raises:
            headway.vision.image.DrawingError: there is no such drawing, or it cannot be worked on.
            KeyReusedError: the key has made a job of another drawing.
            SubmitError: the bucket, the job store or the lane cannot be reached; a job without a key is failed.
        """
        try:
            check_drawing(self.drawings.read(drawing_key))
        except BucketError as error:
            raise SubmitError(str(error)) from None
        return self._write_and_send(_job_id(idempotency_key), name or drawing_key, drawing_key, idempotency_key)

    def _write_and_send(self, job_id: uuid.UUID, name: str, drawing_key: str, idempotency_key: str) -> Submitted:
        try:
            created = self._write(job_id, shown_name(name), drawing_key)
            if created:
                self._send(job_id, repeatable=bool(idempotency_key))
        except sa.exc.OperationalError as error:
            raise SubmitError(f"the job store does not answer: {first_line(error)}") from None
        return Submitted(job_id=job_id, created=created)

    def _write(self, job_id: uuid.UUID, name: str, drawing_key: str) -> bool:
        """Write the job; False where it was written before and sent, too."""
        try:
            create_job(self._engine, job_id=job_id, name=name, drawing_key=drawing_key)
        except sa.exc.IntegrityError:
            before = origin(self._engine, job_id)
            if before is None or before.drawing_key != drawing_key:
                raise KeyReusedError(f"the idempotency key has made job {job_id} of another drawing") from None
            if before.status is JobStatus.PENDING:
                # Whoever wrote it may have died before it was sent. A second blocksplit finds the first one's work.
                self._send(job_id, repeatable=True)
            return False
        return True

    def _send(self, job_id: uuid.UUID, *, repeatable: bool) -> None:
        try:
            self._app.send_task(BLOCKSPLIT, args=[str(job_id)], queue=self._route.lane)
        except (
            kombu.exceptions.KombuError,
            botocore.exceptions.BotoCoreError,
            botocore.exceptions.ClientError,
        ) as error:
            reason = f"lane {self._route.lane}: the job could not be sent: {error}"
            if not repeatable:
                # A send that timed out may have arrived: its blocksplit finds the job failed and does nothing.
                fail_job(self._engine, job_id, reason)
            raise SubmitError(reason) from None

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()
        self._app.close()


def _job_id(idempotency_key: str) -> uuid.UUID:
    return uuid.uuid5(_KEYS, idempotency_key) if idempotency_key else uuid.uuid4()


def shown_name(name: str) -> str:
    r"""Return the file's own name as people see it, without what PostgreSQL or a terminal would choke on.

    >>> shown_name("../plans/Grundriß\x00\x1b[31m.png")
    'Grundriß[31m.png'
    """
    shown = "".join(character for character in PurePath(name).name if character.isprintable())
    return shown[-_SHOWN_LENGTH:] or "drawing"


def safe_name(name: str) -> str:
    """Return the file's own name, of characters that every tool takes in an S3 key.

    >>> safe_name("../plans/Level 2 (rev B).png")
    'Level_2_rev_B_.png'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "_", PurePath(name).name)[-_NAME_LENGTH:] or "drawing"
