"""The fleet's quota, as one process sees it: a place is leased before a call is sent, and kept while the call runs.

The database is asked in a thread and over a connection of its own: it may be slow, or away, while calls run in the
loop. Its absence lets no new call begin and ends none that runs.
"""

import asyncio
import logging
import random
import uuid
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypeVar

import sqlalchemy as sa

from headway.clock import StageClock
from headway.contract import DatabaseSecret
from headway.jobs.database import connect, first_line
from headway.jobs.quota import LeaseTerms, Standing, ask, give_back, look, renew
from headway.vision.asking import CrowdedError

logger = logging.getLogger(__name__)

#: The first in line looks this often, stage seconds, and nobody more often than this in wall seconds.
_LOOK_S = 1.0
_MIN_LOOK_S = 0.1
#: The longest pause of those further back, in looks of the first, and as a part of a beat: who waits is heard of.
_MAX_LOOKS = 20
_MAX_PAUSE_BEATS = 0.5
#: A renewal that failed is tried again after this part of a beat.
_AGAIN_BEATS = 0.25
#: Wall seconds that an answer waits for its place to be given back.
_GIVE_BACK_WITHIN_S = 2.0
T = TypeVar("T")


def pause_looks(ahead: int, draw: float) -> float:
    """Return how long to pause before looking again, in looks of the first in line; ``draw`` is uniform in [0, 1).

    Who stands further back looks less often, so that a line of n costs the database about ln(n) looks in the time of
    one, however long it grows.

    >>> pause_looks(0, 0.5), pause_looks(4, 0.5), pause_looks(500, 0.5)
    (1.0, 5.0, 20.0)
    """
    return min(1 + ahead, _MAX_LOOKS) * (0.75 + draw / 2)


class FleetQuota:
    """Places in a quota of ``calls``, leased from the job store.

    ``lease_s`` and ``beat_s``: what a place holds without renewal, and between two of them; wall seconds.
    """

    def __init__(
        self,
        database: DatabaseSecret,
        *,
        calls: int,
        clock: StageClock,
        lease_s: float,
        beat_s: float,
        draw: Callable[[], float] = random.random,
    ) -> None:
        # Without pings, which would double the round trips of those who wait: whatever fails here is tried again.
        self._engine = connect(database, ping=False)
        self._calls, self._clock, self._draw = calls, clock, draw
        self._look_s = clock.wall(_LOOK_S, at_least=_MIN_LOOK_S)
        self._terms = LeaseTerms(lease_s=lease_s, beat_s=beat_s, waiting_s=lease_s)
        # Its thread starts with its first work, so that it may be made before a fork.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="fleet-quota")

    def close(self) -> None:
        """End the thread and its connection, once no place is held."""
        self._thread.shutdown()
        self._engine.dispose()

    @asynccontextmanager
    async def place(self, *, within_s: float) -> AsyncIterator[int]:
        """Wait for a place and hold it; see headway.vision.asking.Quota."""
        lease = uuid.uuid4()
        try:
            taken = await self._take(lease, self._clock.monotonic() + within_s)
            renewing = asyncio.create_task(self._keep(lease))
            try:
                yield taken.in_flight + 1
            finally:
                renewing.cancel()
        finally:
            await self._give_back(lease)

    async def _take(self, lease: uuid.UUID, until: float) -> Standing:
        """Stand in line, and return once it is the lease's turn."""
        standing = await self._asked(lease)
        while standing is None or not standing.admitted:
            looks = pause_looks(standing.ahead if standing else _MAX_LOOKS, self._draw())
            pause_s = min(looks * self._look_s, _MAX_PAUSE_BEATS * self._terms.beat_s)
            if self._clock.monotonic() >= until:
                raise CrowdedError(
                    f"no place in the quota of {standing.quota} calls: {standing.in_flight} in flight"
                    if standing
                    else "no place in the quota: the job store is away"
                )
            await asyncio.sleep(pause_s)
            standing = await self._asked(lease, standing)
        return standing

    async def _asked(self, lease: uuid.UUID, before: Standing | None = None) -> Standing | None:
        """Ask for the place, where a look shows that it is time to; None where the job store is away."""
        try:
            if before is not None:
                seen = await self._run(lambda: look(self._engine, lease, calls=self._calls))
                if not seen.should_ask(self._terms):
                    return seen
            return await self._run(lambda: ask(self._engine, lease, calls=self._calls, terms=self._terms))
        except sa.exc.DBAPIError as error:
            logger.warning("no new calls: job store: %s", first_line(error))
            return None

    async def _keep(self, lease: uuid.UUID) -> None:
        """Renew the lease at every beat. The call goes on whatever becomes of it: it is paid for."""
        pause_s = self._terms.beat_s
        while True:
            await asyncio.sleep(pause_s)
            try:
                await self._run(lambda: renew(self._engine, lease, terms=self._terms))
                pause_s = self._terms.beat_s
            except sa.exc.DBAPIError as error:
                logger.warning("place in the quota not renewed: job store: %s", first_line(error))
                pause_s = self._terms.beat_s * _AGAIN_BEATS

    async def _give_back(self, lease: uuid.UUID) -> None:
        """Give the place back; what cannot be given back in time expires."""
        giving = asyncio.ensure_future(self._run(lambda: self._given_back(lease)))
        try:
            await asyncio.wait_for(asyncio.shield(giving), _GIVE_BACK_WITHIN_S)
        except sa.exc.DBAPIError as error:
            logger.warning("place in the quota not given back: job store: %s", first_line(error))
        except TimeoutError:
            logger.warning("place in the quota not given back yet: the job store is slow")
            giving.add_done_callback(lambda late: late.cancelled() or late.exception())

    def _given_back(self, lease: uuid.UUID) -> None:
        try:
            give_back(self._engine, lease)
        except sa.exc.DBAPIError:
            # The connection may have been lost long ago; the next one is new.
            self._engine.dispose()
            give_back(self._engine, lease)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._connected, work)

    def _connected(self, work: Callable[[], T]) -> T:
        """Do the work. After an error the next goes over a new connection: a failover leaves old ones to a reader."""
        try:
            return work()
        except sa.exc.DBAPIError:
            self._engine.dispose()
            raise
