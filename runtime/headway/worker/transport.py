"""Kombu's SQS transport, mended where one fault would cost a lane or a message.

In Kombu 5.7.0 one failed ReceiveMessage ends the poll chain of its lane (AsyncAWSQueryConnection._on_list_ready returns
a list, Channel._on_messages_ready expects a mapping), a poll that is never answered ends it too (CurlClient sets no
timeout), a message of an unknown lane cannot be acknowledged (Channel.basic_ack finds the client by routing key), and
a returned message hides for the wait time (Channel._put). Here every poll ends, every end is followed by a poll, and a
message is settled at the queue it came from.
"""

import logging
import math
import threading
import time
from collections.abc import Callable
from typing import Any

import boto3
import botocore.config
from kombu.transport import SQS

from headway.worker.messages import Message, QoS
from headway.worker.polls import Polls
from headway.worker.settling import Settling

logger = logging.getLogger(__name__)

# Celery's stubs know a transport's users, not its makers: its classes stay untyped here.
_AnyTransport: Any = SQS.Transport


class Channel(Polls, Settling):
    """A channel whose polls always go on, and whose messages are settled by their own queue's URL."""

    QoS = QoS
    Message = Message

    def new_sqs_client(self, region: str, **_keys: Any) -> Any:
        """Return a client from boto3's default session: it has parsed the service model before the pool forked."""
        return boto3.client(
            "sqs", region_name=region, config=botocore.config.Config(**self.transport_options.get("client-config", {}))
        )

    def sqs(self, queue: str | None = None) -> Any:
        """Return the one client of all lanes: they share region and role, and each call carries its queue's URL."""
        return super().sqs()


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
        #: When a message last came, on the monotonic clock.
        self.received_at = -math.inf
        #: Whether this worker looks at no more answers.
        self.closing = False
        #: Failed polls in a row, by lane.
        self.poll_failures: dict[str, int] = {}
        self.paused: Callable[[], bool] = lambda: False
        #: Wall seconds for which a worker that holds nothing must not ask for messages.
        self.hush_s: Callable[[], float] = lambda: 0.0
        self.on_fatal: Callable[[str], None] = logger.critical
        #: Told of each answered poll, and of each that had no room.
        self.on_consuming: Callable[[], None] = lambda: None

    def poll_left_s(self) -> int:
        """Return the wall seconds until the last open poll is answered, rounded up."""
        return max(0, math.ceil(max(self.open_polls.values(), default=0.0) - time.monotonic()))
