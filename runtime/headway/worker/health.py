"""Ends a worker whose lane can never be polled again: warm, with the exit code of "unreachable", for ECS to replace."""

import logging
from typing import Any

from celery import bootsteps
from celery.worker import state
from celery.worker.consumer.tasks import Tasks

logger = logging.getLogger(__name__)

EXIT_UNREACHABLE = 4


class PollWatch(bootsteps.StartStopStep):
    """Hears of fatal polls from the transport."""

    requires = (Tasks,)

    def start(self, consumer: Any) -> None:
        """Hook into the new connection."""
        consumer.connection.transport.on_fatal = self._end

    def stop(self, consumer: Any) -> None:
        """Nothing to stop: the hook goes with its connection."""

    def _end(self, reason: str) -> None:
        logger.critical("%s: this worker can do nothing more", reason)
        # Celery's loop ends warm with this exit code (celery.worker.state.maybe_shutdown).
        state.should_stop = EXIT_UNREACHABLE  # type: ignore[assignment]  # the stubs know its first value only
