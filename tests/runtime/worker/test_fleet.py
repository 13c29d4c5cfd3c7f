"""A process's places in the fleet's quota, on real PostgreSQL: held while a call runs, even if the store is away."""

import asyncio
import contextlib
import doctest
import logging
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
import sqlalchemy as sa

from headway.clock import StageClock
from headway.contract import DatabaseSecret
from headway.jobs import connect
from headway.jobs.quota import set_quota
from headway.jobs.schema import call_leases
from headway.vision.asking import CrowdedError
from headway.worker import fleet
from headway.worker.fleet import FleetQuota
from headway_ops.local.postgres import Server
from tests.runtime.support.database import job_store_away

_WITHIN_S = 30.0


@pytest.fixture
def engine(database: DatabaseSecret) -> Iterator[sa.Engine]:
    """The test's own connection to a job store with one place."""
    made = connect(database)
    set_quota(made, 1)
    yield made
    made.dispose()


@pytest.fixture
def process(database: DatabaseSecret) -> Iterator[Callable[[], FleetQuota]]:
    """Makes one process's view of the quota after another; leases of 2 s, a beat every 0.2 s."""
    made: list[FleetQuota] = []

    def make() -> FleetQuota:
        made.append(FleetQuota(database, calls=24, clock=StageClock(20.0), lease_s=2.0, beat_s=0.2))
        return made[-1]

    yield make
    for quota in made:
        quota.close()


def _leases(engine: sa.Engine) -> tuple[int, ...]:
    """Return how many leases are granted, and how many wait."""
    granted = call_leases.c.granted_at.is_not(None)
    with engine.connect() as connection:
        query = sa.select(sa.func.count().filter(granted), sa.func.count().filter(~granted)).select_from(call_leases)
        return tuple(connection.execute(query).one())


async def _until(found: Callable[[], bool]) -> None:
    async with asyncio.timeout(_WITHIN_S):
        while not found():
            await asyncio.sleep(0.01)


class _Call:
    """A call that lasts until it is told to end."""

    def __init__(self, quota: FleetQuota, *, within_s: float = 1_000.0) -> None:
        self.in_flight = 0
        self._end = asyncio.Event()
        self.task = asyncio.create_task(self._run(quota, within_s))

    async def _run(self, quota: FleetQuota, within_s: float) -> None:
        async with quota.place(within_s=within_s) as self.in_flight:
            await self._end.wait()

    async def end(self) -> None:
        self._end.set()
        await self.task


@contextlib.asynccontextmanager
async def _calling(*quotas: FleetQuota) -> AsyncIterator[list[_Call]]:
    """Run calls, one after the other, and end what is left of them."""
    calls = [_Call(quota) for quota in quotas]
    try:
        yield calls
    finally:
        for call in calls:
            call.task.cancel()
        await asyncio.gather(*(call.task for call in calls), return_exceptions=True)


def test_the_examples_hold() -> None:
    """As the function shows them."""
    assert doctest.testmod(fleet).failed == 0


def test_two_processes_share_one_place(engine: sa.Engine, process: Callable[[], FleetQuota]) -> None:
    """The second call is sent once the first has ended; each knows that it is alone; nothing is left behind."""

    async def scenario() -> None:
        async with _calling(process(), process()) as calls:
            await _until(lambda: any(call.in_flight for call in calls) and _leases(engine) == (1, 1))
            first, second = sorted(calls, key=lambda call: not call.in_flight)
            assert (first.in_flight, second.in_flight) == (1, 0)
            await first.end()
            await _until(lambda: second.in_flight == 1)
            await second.end()
        assert _leases(engine) == (0, 0)

    asyncio.run(scenario())


def test_a_place_is_kept_for_longer_than_its_lease(engine: sa.Engine, process: Callable[[], FleetQuota]) -> None:
    """Renewed at every beat: it ends later than it did, several times, and nobody else gets in."""
    ends: set[object] = set()

    def renewed(times: int) -> bool:
        with engine.connect() as connection:
            ends.add(connection.scalar(sa.select(call_leases.c.expires_at)))
        return len(ends) > times

    async def scenario() -> None:
        async with _calling(process()) as (call,):
            await _until(lambda: call.in_flight == 1)
            await _until(lambda: renewed(3))

    asyncio.run(scenario())


def test_a_call_without_a_place_gives_up_in_time(engine: sa.Engine, process: Callable[[], FleetQuota]) -> None:
    """Its place in the line goes with it."""
    set_quota(engine, 0)

    async def scenario() -> None:
        call = _Call(process(), within_s=2.0)
        with pytest.raises(CrowdedError, match=r"^no place in the quota of 0 calls: 0 in flight$"):
            await call.task
        assert _leases(engine) == (0, 0)

    asyncio.run(scenario())


def test_a_canceled_call_gives_its_place_back(engine: sa.Engine, process: Callable[[], FleetQuota]) -> None:
    """Whether it runs or waits."""

    async def scenario() -> None:
        quota = process()
        async with _calling(quota, quota):
            await _until(lambda: _leases(engine) == (1, 1))
        assert _leases(engine) == (0, 0)

    asyncio.run(scenario())


def test_losing_the_store_stops_new_calls_and_no_running_one(
    engine: sa.Engine,
    process: Callable[[], FleetQuota],
    caplog: pytest.LogCaptureFixture,
    postgres_server: Server,
) -> None:
    """One call runs through the outage, one waits through it; after it the first still holds the only place."""

    async def scenario() -> None:
        async with _calling(process(), process()) as calls:
            await _until(lambda: any(call.in_flight for call in calls) and _leases(engine) == (1, 1))
            running, waiting = sorted(calls, key=lambda call: not call.in_flight)
            with job_store_away(postgres_server.owner), caplog.at_level(logging.WARNING):
                # Longer than the lease: both have felt it, and gone on.
                await _until(lambda: caplog.text.count("not renewed") > 40)
                assert "no new calls: job store: " in caplog.text
                assert not running.task.done()
                assert waiting.in_flight == 0
            caplog.clear()
            await _until(lambda: _leases(engine) == (1, 1))
            assert (running.task.done(), waiting.in_flight) == (False, 0)
            await running.end()
            await _until(lambda: waiting.in_flight == 1)

    asyncio.run(scenario())


def test_a_session_that_cannot_write_is_replaced(
    engine: sa.Engine, process: Callable[[], FleetQuota], caplog: pytest.LogCaptureFixture
) -> None:
    """As after a failover, whose old writer goes on as a reader: the call waits, and is sent over a new connection."""

    def sessions_to_come(setting: str) -> None:
        with engine.begin() as connection:
            connection.execute(sa.text(f"ALTER ROLE CURRENT_USER {setting}"))

    async def scenario() -> None:
        async with _calling(process()) as (call,):
            await _until(lambda: "read-only transaction" in caplog.text)
            sessions_to_come("RESET default_transaction_read_only")
            await _until(lambda: call.in_flight == 1)

    with engine.connect():  # this session stays as it is
        sessions_to_come("SET default_transaction_read_only = on")
        try:
            asyncio.run(scenario())
        finally:
            sessions_to_come("RESET default_transaction_read_only")


def test_an_answer_does_not_wait_for_a_store_that_is_away(
    engine: sa.Engine,
    process: Callable[[], FleetQuota],
    caplog: pytest.LogCaptureFixture,
    postgres_server: Server,
) -> None:
    """The call ends during the outage; its place expires after it, and is taken again."""

    async def scenario() -> None:
        async with _calling(process()) as (call,):
            await _until(lambda: call.in_flight == 1)
            with job_store_away(postgres_server.owner):
                await call.end()
                assert "not given back: job store: " in caplog.text
        async with _calling(process()) as (call,):
            await _until(lambda: call.in_flight == 1)

    asyncio.run(scenario())
