"""Kombu's SQS transport, mended where one fault would cost a lane or a message.

In Kombu 5.7.0 one failed ReceiveMessage ends the poll chain of its lane (AsyncAWSQueryConnection._on_list_ready returns
a list, Channel._on_messages_ready expects a mapping), a poll that is never answered ends it too (CurlClient sets no
timeout), a message of an unknown lane cannot be acknowledged (Channel.basic_ack finds the client by routing key), and
a returned message hides for the wait time (Channel._put). Here every poll ends, every end is followed by a poll, and a
message is settled at the queue it came from.
"""

import logging
import math
import random
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import boto3
import botocore.config
import botocore.exceptions
from kombu.transport import SQS, virtual
from kombu.transport.SQS.exceptions import AccessDeniedQueueException
from vine import promise

from headway.worker.envelope import PoisonError, check
from headway.worker.poller import PollConnection
from headway.worker.polling import PollFailure, poll_again_after_s

logger = logging.getLogger(__name__)

#: How much longer than its wait time a long poll may take.
_ANSWER_WITHIN_S = 5
#: An SQS string attribute takes what XML 1.0 takes (SQS API reference, SendMessage).
_NOT_IN_ATTRIBUTES = re.compile(r"[^\x20-\ud7ff\ue000-\ufffd]")
_REASON_LENGTH = 500
REASON_ATTRIBUTE = "headway-reason"

# Celery's stubs know a transport's users, not its makers: its classes stay untyped here.
_AnyMessage: Any = virtual.Message
_AnyQoS: Any = SQS.QoS
_AnyChannel: Any = SQS.Channel
_AnyTransport: Any = SQS.Transport

_AWS_ERRORS = (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError)


class Message(_AnyMessage):  # type: ignore[misc]  # see above
    """A message that can also go back with a delay, or to the dead-letter queue with its reason."""

    @property
    def receives(self) -> int:
        """How often the message was received, this time included."""
        return int(self.delivery_info["sqs_message"].get("Attributes", {}).get("ApproximateReceiveCount", 1))

    def hand_back(self, delay_s: int = 0) -> None:
        """Make the message visible to every worker again in ``delay_s`` wall seconds.

        A poll that this worker left open when it stopped would take it along, so it waits for that poll's end.
        """
        transport = self.channel.connection
        if transport.closing:
            delay_s = max(delay_s, transport.poll_left_s())
        self.channel.change_visibility(self.delivery_info["sqs_queue"], self.delivery_tag, delay_s)
        self._settled()

    def bury(self, reason: str) -> None:
        """Move the message to its lane's dead-letter queue."""
        self.channel.move_to_dead_letters(self.delivery_info["sqs_queue"], self.delivery_info["sqs_message"], reason)
        self._settled()

    def ack_log_error(self, logger: logging.Logger, errors: Any, multiple: bool = False) -> None:
        """Acknowledge the message. Where that fails it comes back and finds its work done: one line says enough."""
        try:
            self.ack(multiple=multiple)
        except errors as error:
            logger.warning("a message could not be acknowledged and will come back: %s", error)

    def _settled(self) -> None:
        self.channel.qos.ack(self.delivery_tag)
        self._state = "REJECTED"


class QoS(_AnyQoS):  # type: ignore[misc]  # see above
    """Keeps the transport's list of held messages: received, and neither acknowledged nor returned."""

    def append(self, message: Any, delivery_tag: str) -> None:
        """Note a message that was received."""
        super().append(message, delivery_tag)
        self.channel.connection.held[delivery_tag] = message.delivery_info["sqs_queue"]

    def ack(self, delivery_tag: str) -> None:
        """Note a message that was acknowledged."""
        super().ack(delivery_tag)
        self.channel.connection.held.pop(delivery_tag, None)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Note a message that was returned."""
        super().reject(delivery_tag, requeue=requeue)
        self.channel.connection.held.pop(delivery_tag, None)


class Channel(_AnyChannel):  # type: ignore[misc]  # see above
    """A channel whose polls always go on, and whose messages are settled by their own queue's URL."""

    QoS = QoS
    Message = Message

    _asynsqs: Any = None

    def new_sqs_client(self, region: str, **_keys: Any) -> Any:
        """Return a client from boto3's default session: it has parsed the service model before the pool forked."""
        return boto3.client(
            "sqs", region_name=region, config=botocore.config.Config(**self.transport_options.get("client-config", {}))
        )

    def sqs(self, queue: str | None = None) -> Any:
        """Return the one client of all lanes: they share region and role, and each call carries its queue's URL."""
        return super().sqs()

    def asynsqs(self, queue: str | None = None) -> Any:
        """Return the one connection of all polls."""
        if self._asynsqs is None:
            self._asynsqs = PollConnection(
                self.sqs(), timeout_s=self.wait_time_seconds + _ANSWER_WITHIN_S, region=self.region
            )
        return self._asynsqs

    def _schedule_queue(self, queue: str) -> None:
        if queue not in self._active_queues:
            return
        if self.connection.paused() or not self.qos.can_consume():
            self.connection.on_consuming()  # every slot is busy, or the worker waits for its protection
            self.hub.call_later(self.connection.polling_interval, self._schedule_queue, queue)
            return
        self.connection.open_polls[queue] = time.monotonic() + self.wait_time_seconds
        try:
            self._get_async(queue, self._get_message_estimate(), callback=promise(self._polled, (queue,)))
        except Exception as error:  # credentials that cannot be had, say: raised here, it would end the poll chain
            self._polled(queue, PollFailure(reason=repr(error)))

    @property
    def _lazy(self) -> bool:
        """Whether this worker holds so little that busier ones should be asked first.

        An open long poll takes a message at once, and SQS alone knows whose. Were an idle worker's open too, work would
        spread over all tasks, and none could be scaled in.
        """
        below: int = self.transport_options.get("lazy_below", 0)
        return len(self.connection.held) < below

    def _get_from_sqs(
        self, queue_name: str, queue_url: str, connection: Any, count: int = 1, callback: Any = None
    ) -> Any:
        return connection.receive_message(
            queue_name,
            queue_url,
            number_messages=count,
            wait_time_seconds=0 if self._lazy else self.wait_time_seconds,
            callback=callback,
        )

    def _loop1(self, queue: str, messages_fetched: Any = None) -> None:
        if self._lazy and not messages_fetched:
            self.hub.call_later(self.transport_options["lazy_poll_s"], self._schedule_queue, queue)
        else:
            super()._loop1(queue, messages_fetched)

    def _on_messages_ready(self, queue: str, qname: str, messages: Any) -> int | PollFailure:
        if isinstance(messages, PollFailure):
            return messages
        received = messages.get("Messages")
        if not received:
            return 0
        callback = self.connection._callbacks.get(qname)
        if callback is None:  # the consumer was canceled while this poll was open
            self._release_messages(queue, qname, received)
            return 0
        for message in received:
            self._deliver(queue, qname, message, callback)
        return len(received)

    def _deliver(self, queue_url: str, name: str, message: Any, callback: Callable[[Any], None]) -> None:
        try:
            payload = self._message_to_python(message, name, queue_url)
            check(self.message_to_python(payload))
        except PoisonError as error:
            self.move_to_dead_letters(queue_url, message, str(error))
        except Exception as error:  # whatever a stranger's envelope breaks
            self.move_to_dead_letters(queue_url, message, f"no Celery message: {error!r}")
        else:
            try:
                callback(payload)
            except Exception:  # no longer extended, it comes back by its visibility timeout, to another worker
                logger.exception("lane %s: a message could not be handled", name)
                self.qos.ack(message["ReceiptHandle"])

    def _polled(self, queue: str, outcome: int | PollFailure) -> None:
        self.connection.open_polls.pop(queue, None)
        failures = self.connection.poll_failures
        if not isinstance(outcome, PollFailure):
            self.connection.on_consuming()
            if failures.pop(queue, 0):
                logger.info("lane %s: polling again", queue)
            self._loop1(queue, outcome)
            return
        failures[queue] = failures.get(queue, 0) + 1
        if outcome.fatal:
            self.connection.on_fatal(f"lane {queue}: {outcome.reason}")
            return
        delay_s = poll_again_after_s(failures[queue], random.random())  # noqa: S311  # jitter, no secret
        logger.warning("lane %s: poll failed (%s), again in %.1f s", queue, outcome.reason, delay_s)
        self.hub.call_later(delay_s, self._schedule_queue, queue)

    def _restore(self, message: Any, *_unwanted: Any) -> None:
        """Return a message at once: Kombu would hide it for the wait time, and find its queue by routing key."""
        self.change_visibility(message.delivery_info["sqs_queue"], message.delivery_tag, 0)

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        """Delete a message; where this role may not, the worker can do nothing more."""
        try:
            super().basic_ack(delivery_tag, multiple)
        except AccessDeniedQueueException as error:
            self.connection.on_fatal(f"DeleteMessage: {error}")

    def change_visibility(self, queue_url: str, handle: str, visibility_s: int) -> None:
        """Let go of a held message, visible again in so many seconds; where that fails, its own timeout brings it back.

        The lease keeper is waited for and told first, or an extension under way would undo this one.
        """
        with self.connection.extending:
            self.connection.held.pop(handle, None)
        try:
            self.sqs().change_message_visibility(
                QueueUrl=queue_url, ReceiptHandle=handle, VisibilityTimeout=visibility_s
            )
        except _AWS_ERRORS as error:
            logger.warning("%s: a message could not be returned, its visibility timeout will: %s", queue_url, error)

    def move_to_dead_letters(self, queue_url: str, message: Mapping[str, Any], reason: str) -> None:
        """Copy a received message to the dead-letter queue with its reason, and delete it.

        Where that fails the message stays, and the redrive policy moves it after its last receive.
        """
        reason = _NOT_IN_ATTRIBUTES.sub("?", reason)[:_REASON_LENGTH]
        logger.error("%s: message %s to the dead letters: %s", queue_url, message.get("MessageId"), reason)
        dead_letters = self.transport_options.get("dead_letters", {}).get(queue_url)
        if dead_letters is None:
            return
        try:
            self.sqs().send_message(
                QueueUrl=dead_letters,
                MessageBody=message["Body"],
                MessageAttributes={REASON_ATTRIBUTE: {"DataType": "String", "StringValue": reason}},
            )
            self.sqs().delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])
        except _AWS_ERRORS as error:
            logger.warning("%s: a message could not be moved, its redrive policy will: %s", queue_url, error)


class Transport(_AnyTransport):  # type: ignore[misc]  # see above
    """SQS, mended. A worker sets the hooks; without them polls never pause and a fatal failure is an error."""

    Channel = Channel

    def __init__(self, client: Any, **options: Any) -> None:
        super().__init__(client, **options)
        #: Receipt handles of held messages, each with its queue's URL; other threads may copy it.
        self.held: dict[str, str] = {}
        #: Held while messages are being extended.
        self.extending = threading.Lock()
        #: Lanes whose poll is not answered yet, each with the monotonic time at which it will be.
        self.open_polls: dict[str, float] = {}
        #: Whether this worker looks at no more answers.
        self.closing = False
        #: Failed polls in a row, by lane.
        self.poll_failures: dict[str, int] = {}
        self.paused: Callable[[], bool] = lambda: False
        self.on_fatal: Callable[[str], None] = logger.critical
        #: Told of each answered poll, and of each that had no room.
        self.on_consuming: Callable[[], None] = lambda: None

    def poll_left_s(self) -> int:
        """Return the wall seconds until the last open poll is answered, rounded up."""
        return max(0, math.ceil(max(self.open_polls.values(), default=0.0) - time.monotonic()))
