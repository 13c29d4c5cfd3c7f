"""Races by several processes at once, each at several tables, on a server of their own."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context

from headway_ops.local.postgres import Server
from tests.races.referee import Violation
from tests.races.table import play

_PROCESSES = 2
#: A table waits for its players most of the time.
_TABLES = 6


@dataclass(frozen=True, kw_only=True)
class Hall:
    """Processes that play races on one server."""

    server: Server
    pool: ProcessPoolExecutor

    def play(self, *, races: int, seed: int) -> list[Violation]:
        """Play at least so many races, the same for the same seed but for their timing; return what went wrong."""
        share = -(-races // _PROCESSES)
        futures = [
            self.pool.submit(_tables, self.server.owner, self.server.secret, share, seed * _PROCESSES + number)
            for number in range(_PROCESSES)
        ]
        return [violation for future in futures for violation in future.result()]


@contextmanager
def hall(server: Server) -> Iterator[Hall]:
    """Open a hall on a server that is a job store."""
    with ProcessPoolExecutor(_PROCESSES, mp_context=get_context("spawn")) as pool:
        yield Hall(server=server, pool=pool)


def _tables(owner: object, application: object, races: int, seed: int) -> list[Violation]:
    share = -(-races // _TABLES)

    async def all_tables() -> list[Violation]:
        played = (
            play(owner, application, races=share, seed=seed * _TABLES + number)  # type: ignore[arg-type]
            for number in range(_TABLES)
        )
        return [violation for found in await asyncio.gather(*played) for violation in found]

    return asyncio.run(all_tables())
