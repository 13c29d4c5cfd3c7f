"""What becomes of calls that outlast a stop? Shortly before SIGKILL they are interrupted, and their messages go back.

SIGTERM starts Celery's warm shutdown, which waits for running tasks however long they take; ECS waits for stopTimeout.
"""

import logging
import os
import signal
import threading
from typing import Any

from celery.signals import worker_shutting_down
from celery.worker.state import active_requests

from headway.clock import StageClock
from headway.producer.broker import RUN_STEP

logger = logging.getLogger(__name__)

#: Stage seconds that interrupted tasks have to settle their messages.
_MARGIN_S = 15.0
_MIN_MARGIN_S = 2.0


def interrupt_after_s(stop_timeout_s: float, clock: StageClock) -> float:
    """Return the wall seconds from SIGTERM until running tasks are interrupted.

    >>> interrupt_after_s(120, StageClock()), interrupt_after_s(120, StageClock(60.0))
    (105.0, 1.0)
    """
    window = clock.wall(stop_timeout_s)
    return window - min(clock.wall(_MARGIN_S, at_least=_MIN_MARGIN_S), window / 2)


def interrupt_calls() -> None:
    """Raise SoftTimeLimitExceeded in every child with a call: billiard's pool installs a handler of SIGUSR1 that does.

    A blocksplit is left alone: it takes seconds, and over its own limit its drawing is to blame.
    """
    for request in tuple(active_requests):
        if request.name == RUN_STEP and request.worker_pid is not None:
            logger.warning("%s[%s] does not end in time and is interrupted", request.name, request.id)
            os.kill(request.worker_pid, signal.SIGUSR1)


def interrupt_before_sigkill(stop_timeout_s: float, clock: StageClock) -> None:
    """From now on, interrupt what still runs shortly before a stop's time is over."""

    def start(**_: Any) -> None:
        timer = threading.Timer(interrupt_after_s(stop_timeout_s, clock), interrupt_calls)
        timer.daemon = True
        timer.start()

    worker_shutting_down.connect(start, weak=False)
