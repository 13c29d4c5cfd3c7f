"""A received message, and the list of those that are held: neither acknowledged nor returned."""

import logging
from typing import Any

from kombu.transport import SQS, virtual

from headway.worker.envelope import PoisonError, check

# Celery's stubs know a transport's users, not its makers: its classes stay untyped here.
_AnyMessage: Any = virtual.Message
_AnyQoS: Any = SQS.QoS


class Message(_AnyMessage):  # type: ignore[misc]  # see above
    """A message that can be read, and go back with a delay, or to the dead-letter queue with its reason.

    It is decoded once, as it is made, before anybody holds it; Kombu keeps the body for whoever asks next.

    Raises:
        PoisonError: it can never run.
    """

    def __init__(self, payload: Any, channel: Any = None, **options: Any) -> None:
        try:
            super().__init__(payload, channel=channel, **options)
        except Exception as error:  # whatever a stranger's envelope breaks
            raise PoisonError(f"no Celery message: {error!r}") from None
        check(self)

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
