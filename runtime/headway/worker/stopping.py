"""Has this process been asked to give its calls back? Asked once, it stays asked."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

#: The main process asks its pool's children with it. SIGUSR1 is taken by Celery's soft time limit, which is raised
#: wherever the child happens to be, between two tasks too.
STOP_SIGNAL = signal.SIGUSR2


class StopAskedError(BaseException):
    """Raised in the middle of a statement that may take long; no ``except Exception`` may hide it."""

    def __init__(self) -> None:
        super().__init__("interrupted: its worker is stopping")


class Stop:
    """A flag that a signal raises, and that whoever waits looks at."""

    def __init__(self) -> None:
        self.asked = False
        self._breakable = self._broke = False

    def ask(self) -> None:
        """Ask for the calls of this process: those that run, and those that come."""
        self.asked = True

    def listen(self) -> None:
        """Let the signal ask; call it in a pool's child, in its main thread."""
        signal.signal(STOP_SIGNAL, self._on_signal)

    @contextlib.contextmanager
    def breaking(self) -> Iterator[None]:
        """Let the signal raise StopAskedError inside: for statements that wait for a server's answer.

        What begins once the stop was asked runs to its end, so that asking again breaks only what did not hear it.
        A connection that was broken off cannot be rolled back either; that error would hide the reason.
        """
        self._breakable, self._broke = not self.asked, False
        try:
            yield
        except BaseException:
            if self._broke:
                raise StopAskedError from None
            raise
        finally:
            self._breakable = False

    def _on_signal(self, _signal: int, _frame: FrameType | None) -> None:
        self.asked = True
        if self._breakable:
            self._broke = True
            raise StopAskedError
