"""How a message leaves this worker's hands, each at the queue that it came from."""

import logging
import re
from collections.abc import Mapping
from typing import Any

import botocore.exceptions
from kombu.transport import SQS
from kombu.transport.SQS.exceptions import AccessDeniedQueueException

logger = logging.getLogger(__name__)

#: An SQS string attribute takes what XML 1.0 takes (SQS API reference, SendMessage).
_NOT_IN_ATTRIBUTES = re.compile(r"[^\x20-\ud7ff\ue000-\ufffd]")
_REASON_LENGTH = 500
REASON_ATTRIBUTE = "headway-reason"
_AWS_ERRORS = (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError)

# Celery's stubs know a transport's users, not its makers: its classes stay untyped here.
_AnyChannel: Any = SQS.Channel


class Settling(_AnyChannel):  # type: ignore[misc]  # see above
    """The half of a channel that acknowledges, returns and buries."""

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
