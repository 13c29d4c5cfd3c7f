"""What becomes of calls that outlast a stop? They are asked back, and what does not come back is taken.

SIGTERM starts Celery's warm shutdown, which waits for running tasks however long they take; ECS waits for stopTimeout,
then kills, and a message that was held then stays hidden for its visibility timeout. So shortly before that, tasks are
asked to give their calls back, and later the pool is killed and its messages are returned. A second SIGTERM says that
nobody wants to wait: it asks at once.
"""

import contextlib
import logging
import os
import signal
import threading
import time
from dataclasses import dataclass
from typing import Any

import boto3
from celery import bootsteps
from celery.signals import worker_process_init, worker_shutting_down
from celery.worker import state
from celery.worker.consumer.tasks import Tasks

from headway.clock import StageClock
from headway.worker.lease import CONFIG, extend
from headway.worker.stopping import STOP_SIGNAL

logger = logging.getLogger(__name__)

#: Stage seconds before SIGKILL at which calls are asked back, and how many of them tasks have to settle their messages.
_MARGIN_S, _SETTLING_S = 15.0, 10.0
#: Wall seconds for the latter that a stage which runs faster than the clock keeps.
_MIN_SETTLING_S = 6.0
#: A signal can meet a child before it listens, or a statement that swallows it.
_ASK_EVERY_S = 1.0
_LOOK_S = 0.1
#: The exit code where a message was taken from its task; a process that had settled its own and only would not end
#: lost nothing.
_EXIT_FORCED = 1


@dataclass(frozen=True)
class Window:
    """When calls are asked back, wall seconds after SIGTERM, and how long after that they are taken."""

    ask_s: float
    take_after_s: float

    @classmethod
    def of(cls, stop_timeout_s: float, clock: StageClock) -> "Window":
        """Return the window of a stop, its timeout in stage seconds.

        >>> Window.of(120, StageClock())
        Window(ask_s=105.0, take_after_s=10.0)
        >>> Window.of(6, StageClock())
        Window(ask_s=3.0, take_after_s=2.0)
        >>> Window.of(120, StageClock(60.0))
        Window(ask_s=1.75, take_after_s=6.0)
        """
        margin = min(_MARGIN_S, stop_timeout_s / 2)
        settling = margin * _SETTLING_S / _MARGIN_S
        return cls(
            ask_s=clock.wall(stop_timeout_s - margin),
            take_after_s=clock.wall(settling, at_least=min(settling, _MIN_SETTLING_S)),
        )


class OrderlyStop(bootsteps.StartStopStep):
    """The bootstep that keeps a stop within its time."""

    requires = (Tasks,)

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        env, clock = consumer.app.headway.env, consumer.app.headway.clock
        self._stop = consumer.app.headway.stop
        self._region = env.region
        self._poll_s = clock.wall(env.wait_time_s + _LOOK_S)
        self._window = Window.of(env.stop_timeout_s, clock)
        self._hurry = threading.Event()
        self._over = threading.Event()
        self._taking = False
        self._thread: threading.Thread | None = None
        # Celery keeps receivers by weak reference: these live as long as the consumer does, which is the process.
        worker_process_init.connect(self._in_child, weak=False)
        worker_shutting_down.connect(self._on_sigterm, weak=False)

    def start(self, consumer: Any) -> None:
        """Note where messages are held; a consumer starts again after each lost connection."""
        self._consumer, self._transport = consumer, consumer.connection.transport

    def stop(self, consumer: Any) -> None:
        """Stop receiving: no poll may stay open, or a message that meets one whose worker is gone stays hidden.

        Tasks go on. What the last polls bring is returned by the transport: Celery's loop has ended, but Kombu's timers
        still answer for its HTTP client.
        """
        stopping: object = state.should_stop  # the stubs know its first value only
        if stopping is None:  # the connection is lost, nothing else
            return
        consumer.task_consumer.cancel()
        polls = self._transport.open_polls
        logger.info("no more messages are taken; open polls: %d", len(polls))
        until = time.monotonic() + self._poll_s
        while polls and time.monotonic() < until and not self._hurry.wait(_LOOK_S):
            consumer.hub.fire_timers()
        self._transport.closing = True

    def shutdown(self, consumer: Any) -> None:
        """The pool has ended before: nothing is left to take back, or it ended because that is being done."""
        self._over.set()
        if self._taking and self._thread is not None:
            self._thread.join()  # it ends the process

    def _in_child(self, **_: Any) -> None:
        self._stop.listen()

    def _on_sigterm(self, **_: Any) -> None:
        if self._thread is not None:
            self._hurry.set()
            return
        self._thread = threading.Thread(target=self._run, name="orderly-stop", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._hurry.wait(self._window.ask_s)
        self._stop.ask()
        left_s = self._window.take_after_s
        while left_s > 0:
            self._signal_children(STOP_SIGNAL)
            if self._over.wait(min(_ASK_EVERY_S, left_s)):
                return
            left_s -= _ASK_EVERY_S
        self._take_back()

    def _signal_children(self, number: int) -> None:
        try:
            children = self._consumer.pool.info.get("processes", ())
        except AttributeError:  # the pool has just ended (TaskPool.on_stop in Celery 5.7)
            return
        for pid in children:
            if pid != os.getpid():  # the solo pool counts itself
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)

    def _take_back(self) -> None:
        self._taking = True
        transport = self._transport
        with transport.extending:  # the lease keeper must not hide them again
            held = transport.held.copy()
            transport.held.clear()
        logger.error("the stop's time is over: %d messages are taken from their tasks and returned", len(held))
        self._signal_children(signal.SIGKILL)
        client = boto3.session.Session().client("sqs", region_name=self._region, config=CONFIG)
        extend(client, held, dict.fromkeys(held, transport.poll_left_s()), transport.extending)
        if self._consumer.guard is not None:
            self._consumer.guard.release()
        os._exit(_EXIT_FORCED if held else 0)
