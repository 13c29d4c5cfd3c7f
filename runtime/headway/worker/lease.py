"""Keeps held messages hidden while their work lives.

A visibility timeout is short, so that a killed worker's messages come back within minutes; this thread extends it for
as long as this process holds the message. It has a thread and a client of its own: a slow SQS must not stop the polls,
and Celery's event loop does not run while a warm shutdown waits for its tasks.
"""

import itertools
import logging
import random
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import boto3
import botocore.config
import botocore.exceptions
from celery import bootsteps
from celery.worker.consumer.tasks import Tasks

from headway.worker.leases import Leases, next_beat_s
from headway.worker.settings import beat_s, visibility_s

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

logger = logging.getLogger(__name__)

#: SQS API reference, ChangeMessageVisibilityBatch: "up to 10 messages".
_BATCH = 10
#: A slow SQS is asked again at the next beat, and must not outlast a stop.
CONFIG = botocore.config.Config(connect_timeout=2, read_timeout=3, retries={"total_max_attempts": 2})


def batches(held: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield (queue URL, at most ten receipt handles) for messages held as handle -> queue URL."""
    by_queue = sorted(held.items(), key=lambda item: item[1])
    for queue_url, items in itertools.groupby(by_queue, key=lambda item: item[1]):
        handles = [handle for handle, _ in items]
        for start in range(0, len(handles), _BATCH):
            yield queue_url, handles[start : start + _BATCH]


def extend(
    client: "SQSClient", held: dict[str, str], wanted: Mapping[str, int], extending: AbstractContextManager[Any]
) -> None:
    """Hide each message that is still held for its wanted seconds from now; 0 shows it. What fails is only logged.

    ``extending`` is entered for each request: whoever lets go of a message enters it too.
    """
    for queue_url, handles in batches({handle: url for handle, url in held.copy().items() if handle in wanted}):
        with extending:
            _extend_batch(client, queue_url, [handle for handle in handles if handle in held], wanted, held)


def _extend_batch(
    client: "SQSClient", queue_url: str, handles: list[str], wanted: Mapping[str, int], held: Mapping[str, str]
) -> None:
    entries: Any = [
        {"Id": str(number), "ReceiptHandle": handle, "VisibilityTimeout": wanted[handle]}
        for number, handle in enumerate(handles)
    ]
    if not entries:
        return
    try:
        answer = client.change_message_visibility_batch(QueueUrl=queue_url, Entries=entries)
    except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
        logger.warning("%s: visibility not extended: %s", queue_url, error)
        return
    for failed in answer.get("Failed", ()):
        if handles[int(failed["Id"])] in held:  # else it was acknowledged meanwhile
            logger.warning("%s: visibility not extended: %s %s", queue_url, failed["Code"], failed.get("Message"))


class LeaseKeeper(bootsteps.StartStopStep):
    """The bootstep that runs the thread from the consumer's first start until the pool has ended."""

    requires = (Tasks,)

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, consumer: Any) -> None:
        """Start the thread, once: a consumer starts again after each lost connection."""
        self._consumer = consumer
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="lease-keeper", daemon=True)
            self._thread.start()

    def stop(self, consumer: Any) -> None:
        """Go on: tasks are still running."""

    def shutdown(self, consumer: Any) -> None:
        """End the thread; the pool has ended before."""
        self._over.set()

    def _run(self) -> None:
        env, clock = self._consumer.app.headway.env, self._consumer.app.headway.clock
        # A session of its own: a child that is forked while its lock is held, during a refresh of credentials, must not
        # inherit that lock with boto3's default session.
        client = boto3.session.Session().client("sqs", region_name=env.region, config=CONFIG)
        leases, beat = Leases(visibility_s=visibility_s(env, clock)), beat_s(env, clock)
        while not self._over.wait(next_beat_s(beat, random.random())):  # noqa: S311  # jitter, no secret
            connection = self._consumer.connection
            if connection is None:
                continue
            try:
                self._beat(client, connection.transport, leases)
            except Exception:  # the thread must outlive whatever this beat met
                logger.exception("visibility not extended")

    @staticmethod
    def _beat(client: "SQSClient", transport: Any, leases: Leases) -> None:
        due = leases.due(transport.held.copy(), time.monotonic())
        for handle in due.lapsed:
            queue_url = transport.held.get(handle, "")
            logger.error("%s: a message is held for SQS's 12 hours and comes back, whatever becomes of it", queue_url)
        extend(client, transport.held, due.extend, transport.extending)
