"""How many model calls may one process have in flight, and where do they run?

A gate belongs to one event loop, and a loop does not survive a fork. So each process has one long-lived loop in a
thread of its own, made at the first call, and everything that calls models lives in it; tasks hand coroutines over.
"""

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar

from headway.vision.pace import Pace

T = TypeVar("T")

#: Wall seconds for canceled work to end; it only has to close a connection.
_ABANDON_WITHIN_S = 2.0


class Gate:
    """Lets as many calls through at a time as its pace allows; leave it before sleeping, or others wait for nothing.

    A gate is not a semaphore, because its limit falls while calls are inside: they stay, and the next ones wait longer.
    """

    def __init__(self, most: int) -> None:
        self.pace = Pace.full(most)
        self._inside = 0
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a free place and hold it."""
        while self._inside >= self.pace.limit:
            await self._changed.wait()
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
            self._wake()

    def answered(self) -> None:
        """Hear that a call was answered."""
        self.pace = self.pace.answered()
        self._wake()

    def refused(self, *, sent_at: float, now: float) -> None:
        """Hear that a request of ``sent_at`` was refused with 429."""
        self.pace = self.pace.refused(sent_at=sent_at, now=now)

    def _wake(self) -> None:
        """Let all who wait look again, in the order in which they came."""
        self._changed.set()
        self._changed = asyncio.Event()


class Running(Generic[T]):
    """Work in the loop, seen from the thread that waits for it."""

    def __init__(self, work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> None:
        self._ended = threading.Event()
        self._future: concurrent.futures.Future[T] = asyncio.run_coroutine_threadsafe(self._watched(work), loop)

    async def _watched(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await work
        finally:
            self._ended.set()

    def wait(self, timeout_s: float) -> bool:
        """Wait so many seconds at most; return whether the work has ended."""
        return bool(concurrent.futures.wait([self._future], timeout_s).done)

    def result(self) -> T:
        """Return the result, or raise what the work raised, once it has ended."""
        return self._future.result()

    def cancel(self) -> bool:
        """Cancel the work if it still runs; return whether it ends in nothing. From any thread, without a wait."""
        return self._future.cancel()

    def abandon(self) -> None:
        """Cancel the work if it still runs, and wait until it has noted so."""
        if self.cancel():
            self._ended.wait(_ABANDON_WITHIN_S)


class LoopThread:
    """One event loop for the life of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0

    def submit(self, work: Coroutine[Any, Any, T]) -> Running[T]:
        """Run a coroutine in this process's loop."""
        with self._lock:
            if self._loop is None or self._pid != os.getpid():
                self._loop, self._pid = asyncio.new_event_loop(), os.getpid()
                threading.Thread(target=self._loop.run_forever, name="model-calls", daemon=True).start()
            return Running(work, self._loop)
