"""How many model calls may one process have in flight, and where do they run?

A semaphore belongs to one event loop, and a loop does not survive a fork. So each process has one long-lived loop in a
thread of its own, made at the first call, and everything that calls models lives in it; tasks hand coroutines over.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


class Gate:
    """Lets at most ``limit`` calls through at a time; leave it before sleeping, or others wait for nothing."""

    def __init__(self, limit: int) -> None:
        self._semaphore = asyncio.Semaphore(limit)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a free place and hold it."""
        async with self._semaphore:
            yield


class LoopThread:
    """One event loop for the life of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run a coroutine in this process's loop; canceling the future cancels the coroutine."""
        return asyncio.run_coroutine_threadsafe(work, self._running())

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._pid != os.getpid():
                self._loop, self._pid = asyncio.new_event_loop(), os.getpid()
                threading.Thread(target=self._loop.run_forever, name="model-calls", daemon=True).start()
            return self._loop
