"""Virtual time: what is due runs in order, and nothing waits."""

import gc
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from itertools import count
from typing import Any

#: What is done when its time has come; it is given whatever was noted with it.
Act = Callable[[Any], None]


class Engine:
    """A queue of what is due. Of two acts at one time the one that was asked for first runs first."""

    __slots__ = ("_due", "_running", "_turns", "events", "now")

    def __init__(self) -> None:
        self.now = 0.0
        self.events = 0
        self._turns = count()
        self._running = False
        self._due: list[tuple[float, int, Act, Any]] = []

    def at(self, time: float, act: Act, subject: Any = None) -> None:
        """Have ``act`` called with ``subject`` at ``time``, in seconds since the start."""
        heappush(self._due, (time, next(self._turns), act, subject))

    def after(self, delay: float, act: Act, subject: Any = None) -> None:
        """Have ``act`` called with ``subject`` in ``delay`` seconds."""
        heappush(self._due, (self.now + delay, next(self._turns), act, subject))

    def stop(self, _: Any = None) -> None:
        """Let ``run`` return after the act that is running."""
        self._running = False

    def run(self, until: float, *, traced: bool = False) -> str:
        """Run what is due, until ``stop`` is called or the clock reaches ``until``.

        Returns:
            A hash of every act and its time where the run is ``traced``, else nothing.
        """
        self.at(until, self.stop)
        self._running, due, events = True, self._due, 0
        trace = hashlib.blake2b(digest_size=16) if traced else None
        with _uncollected():
            while self._running:
                self.now, _, act, subject = heappop(due)
                if trace:
                    trace.update(f"{self.now!r} {act.__name__}\n".encode())
                act(subject)
                events += 1
        self.events += events
        return trace.hexdigest() if trace else ""


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the cyclic collector from looking through what is due: a run leaves no cycles, and lets go as it goes."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
