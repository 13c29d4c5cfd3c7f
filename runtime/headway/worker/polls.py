"""The poll chain of each lane: every poll ends, and every end is followed by a poll."""

import logging
import math
import random
import time
from collections.abc import Callable
from typing import Any

from kombu.transport import SQS
from vine import promise

from headway.scaling.packing import lazy
from headway.worker.envelope import PoisonError
from headway.worker.poller import PollConnection
from headway.worker.polling import PollFailure, poll_again_after_s

logger = logging.getLogger(__name__)

#: How much longer than its wait time a long poll may take.
_ANSWER_WITHIN_S = 5

# Celery's stubs know a transport's users, not its makers: its classes stay untyped here.
_AnyChannel: Any = SQS.Channel


class Polls(_AnyChannel):  # type: ignore[misc]  # see above
    """The half of a channel that receives."""

    _asynsqs: Any = None

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
        if hush_s := self.connection.hush_s() if self._lazy and not self.connection.held else 0.0:
            self.connection.on_consuming()
            # Idle workers look one after the other, so that the first to find work takes all of it.
            spread_s = random.random() * self.transport_options["lazy_poll_s"]  # noqa: S311  # no secret
            self.hub.call_later(hush_s + spread_s, self._schedule_queue, queue)
            return
        self.connection.open_polls[queue] = time.monotonic() + self.wait_time_seconds
        try:
            self._get_async(queue, self._get_message_estimate(), callback=promise(self._polled, (queue,)))
        except Exception as error:  # credentials that cannot be had, say: raised here, it would end the poll chain
            self._polled(queue, PollFailure(reason=repr(error)))

    @property
    def _lazy(self) -> bool:
        """Whether this worker leaves messages to others, and only looks now and then."""
        options, quiet_s = self.transport_options, time.monotonic() - self.connection.received_at
        below, after_s = options.get("lazy_below", 0), options.get("lazy_after_s", math.inf)
        return lazy(len(self.connection.held), quiet_s, below=below, after_s=after_s)

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
        self.connection.received_at = time.monotonic()
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
        except Exception as error:  # whatever a stranger's envelope breaks
            self.move_to_dead_letters(queue_url, message, f"no Celery message: {error!r}")
            return
        try:
            callback(payload)
        except PoisonError as error:
            self.move_to_dead_letters(queue_url, message, str(error))
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
