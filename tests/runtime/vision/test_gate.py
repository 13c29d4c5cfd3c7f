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


def test_a_smaller_limit_lets_the_calls_inside_end_and_the_next_ones_wait() -> None:
    """Four inside, then a 429: two places. Three must end before a fifth may enter."""

    async def scenario() -> None:
        gate, leave = Gate(4), [asyncio.Event() for _ in range(5)]
        entered: list[int] = []

        async def call(number: int) -> None:
            async with gate.slot():
                entered.append(number)
                await leave[number].wait()

        calls = [asyncio.create_task(call(number)) for number in range(5)]
        await _settled()
        gate.refused(sent_at=1.0, now=1.0)
        for number in (0, 1):
            leave[number].set()
            await _settled()
            assert entered == [0, 1, 2, 3]
        leave[2].set()
        await _settled()
        assert entered == [0, 1, 2, 3, 4]
        for event in leave:
            event.set()
        await asyncio.gather(*calls)

    asyncio.run(scenario())


def test_an_answer_lets_one_more_in() -> None:
    """One place after the refusal, two after an answer: who waits enters without anybody leaving."""

    async def scenario() -> None:
        gate, over = Gate(2), asyncio.Event()
        gate.refused(sent_at=1.0, now=1.0)
        inside = 0

        async def call() -> None:
            nonlocal inside
            async with gate.slot():
                inside += 1
                await over.wait()

        calls = [asyncio.create_task(call()) for _ in range(2)]
        await _settled()
        assert inside == 1
        gate.answered()
        await _settled()
        assert inside == 2
        over.set()
        await asyncio.gather(*calls)

    asyncio.run(scenario())


def test_who_gives_up_waiting_takes_nobodys_turn_away() -> None:
    """Two wait for one place, the first is canceled as it becomes free: the second gets it."""

    async def scenario() -> None:
        gate, leave, entered = Gate(1), asyncio.Event(), list[str]()

        async def call(name: str) -> None:
            async with gate.slot():
                entered.append(name)
                await leave.wait()

        calls = {name: asyncio.create_task(call(name)) for name in ("inside", "gives up", "waits")}
        await _settled()
        leave.set()
        calls["gives up"].cancel()
        await asyncio.gather(*calls.values(), return_exceptions=True)
        assert entered == ["inside", "waits"]

    asyncio.run(scenario())


async def _settled() -> None:
    """Let every task that can run do so."""
    for _ in range(5):
        await asyncio.sleep(0)


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
