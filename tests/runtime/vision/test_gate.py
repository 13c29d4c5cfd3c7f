"""The gate and its loop, across threads and forks."""

import asyncio
import os
import threading

import pytest

from headway.vision.gate import Gate, LoopThread


def test_threads_share_one_gate() -> None:
    """Twelve threads, three places: never more than three inside, and all get through."""
    loop, gate = LoopThread(), Gate(3)
    inside, most = 0, 0

    async def call() -> None:
        nonlocal inside, most
        async with gate.slot():
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.01)
            inside -= 1

    threads = [threading.Thread(target=lambda: loop.submit(call()).result()) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, inside) == (3, 0)


def test_a_forked_child_gets_a_loop_of_its_own() -> None:
    """The parent's loop thread does not survive a fork; the child's first call starts another."""
    loop = LoopThread()

    async def answer() -> int:
        return 42

    assert loop.submit(answer()).result() == 42
    child = os.fork()
    if child == 0:
        os._exit(loop.submit(answer()).result())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42


def test_abandoned_work_has_ended() -> None:
    """Whoever abandons it sees what it left behind."""
    loop, left = LoopThread(), []
    started = threading.Event()

    async def work() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.append("account")

    running = loop.submit(work())
    assert started.wait(10)
    assert not running.wait(0.01)
    running.abandon()
    assert left == ["account"]


def test_work_that_raises_a_timeout_has_ended() -> None:
    """It is not taken for work that still runs."""

    async def work() -> None:
        raise TimeoutError

    running = LoopThread().submit(work())
    assert running.wait(10)
    with pytest.raises(TimeoutError):
        running.result()
