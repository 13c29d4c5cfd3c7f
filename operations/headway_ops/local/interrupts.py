"""Ctrl-C and SIGTERM end a command, wherever it is, and nothing interrupts its cleaning up.

An exception that is raised in a signal handler can be lost: Python drops it where it lands in a finalizer or a weak
reference's callback. So it is raised again every second until the cleaning up has begun.
"""

import signal
import threading
from types import FrameType

_AGAIN_S = 1.0


def raise_on_signals() -> None:
    """Turn SIGINT and SIGTERM into a KeyboardInterrupt that cannot be lost."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, _interrupt)


def end_undisturbed() -> None:
    """Let nothing interrupt this process any more: it is cleaning up."""
    if threading.current_thread() is threading.main_thread():
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, frame: FrameType | None) -> None:
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
    raise KeyboardInterrupt
