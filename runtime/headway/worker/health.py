"""Ends a worker that can do nothing more, warm, with the exit code of "unreachable", for ECS to replace.

That is one whose poll failed for good, and one whose lane has not answered for too long, for whatever reason: a poll
chain that broke, an event loop that stands still, a network that is gone.
"""

import logging
import os
import threading
from typing import Any

from celery import bootsteps
from celery.worker import state
from celery.worker.consumer.tasks import Tasks

from headway.worker.liveness import TOO_OLD_S, Liveness

logger = logging.getLogger(__name__)

EXIT_UNREACHABLE = 4
_LOOK_EVERY_S = 10.0


class PollWatch(bootsteps.StartStopStep):
    """Hears of polls from the transport, and watches their age."""

    requires = (Tasks,)

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._stop_timeout_s = consumer.app.headway.env.stop_timeout_s
        self._liveness = Liveness()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, consumer: Any) -> None:
        """Hook into the new connection, and begin to watch, once."""
        consumer.connection.transport.on_fatal = self._end
        consumer.connection.transport.on_consuming = self._liveness.mark
        if self._thread is None:
            self._liveness.mark()
            self._thread = threading.Thread(target=self._watch, name="poll-watch", daemon=True)
            self._thread.start()

    def stop(self, consumer: Any) -> None:
        """Nothing to stop: the hooks go with their connection."""

    def shutdown(self, consumer: Any) -> None:
        """End the watch; the pool has ended before."""
        self._over.set()

    def _watch(self) -> None:
        while not self._over.wait(_LOOK_EVERY_S):
            if self._liveness.age_s() > TOO_OLD_S:
                self._end(f"no lane has answered for {self._liveness.age_s():.0f} s")
                # A loop that stands still does not see that it should stop.
                if not self._over.wait(self._stop_timeout_s):
                    os._exit(EXIT_UNREACHABLE)

    def _end(self, reason: str) -> None:
        logger.critical("%s: this worker can do nothing more", reason)
        # Celery's loop ends warm with this exit code (celery.worker.state.maybe_shutdown).
        state.should_stop = EXIT_UNREACHABLE  # type: ignore[assignment]  # the stubs know its first value only
