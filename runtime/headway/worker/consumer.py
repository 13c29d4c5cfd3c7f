"""Celery's consumer, with three differences.

Poison is kept with its reason, work waits for the task's protection, and a pool that did not start is one line.
"""

import logging
from typing import Any

import celery.worker.consumer
from celery.exceptions import WorkerLostError
from celery.worker import state

logger = logging.getLogger(__name__)

#: The exit code of a worker whose pool lost a process while it started.
EXIT_POOL = 5


class Consumer(celery.worker.consumer.Consumer):
    """Admits requests through the protection guard, and buries what can never run.

    The admission is the last step before the pool: Celery's task strategy calls ``on_task_request`` once a message is
    a valid, reserved request (celery.worker.strategy.default), so nothing starts that was not admitted.
    """

    guard: Any = None

    def __init__(self, on_task_request: Any, **options: Any) -> None:
        self._start = on_task_request
        super().__init__(self._admit, **options)

    def start(self) -> None:
        """Consume; Celery looks once whether the pool has started, and would end with a traceback if it has not.

        That is where its loop begins (celery.worker.loops.asynloop); a process that is lost later is replaced.
        """
        try:
            super().start()
        except WorkerLostError:
            hint = "too little memory for so many slots, perhaps"
            logger.critical("a process of the pool was gone before the first message (%s): this worker ends", hint)
            state.should_stop = EXIT_POOL  # type: ignore[assignment]  # the stubs know its first value only
            state.maybe_shutdown()

    def _admit(self, request: Any) -> None:
        if self.guard is None:
            self._start(request)
        else:
            self.guard.admit(request, self._start)

    def on_decode_error(self, message: Any, exc: Exception) -> None:
        """Bury a body that cannot be read; Celery would acknowledge it away."""
        message.bury(f"content not accepted: {exc!r}")

    def on_unknown_message(self, body: Any, message: Any) -> None:
        """Bury what is no task message."""
        message.bury("no Celery message: it names no task")

    def on_unknown_task(self, body: Any, message: Any, exc: Exception) -> None:
        """Bury a task that this worker does not have."""
        message.bury(f"unknown task {message.headers.get('task') or body!r}")

    def on_invalid_task(self, body: Any, message: Any, exc: Exception) -> None:
        """Bury a task message that breaks the protocol."""
        message.bury(f"invalid task message: {exc!r}")
