"""Where races are played: a few connections of one event loop, a batch of jobs at a time."""

import asyncio
import random
from typing import Any

import psycopg

from headway.contract import DatabaseSecret
from tests.races.game import MOST, Player, Race, draw
from tests.races.referee import Violation, judge

_BATCH = 50
_SETUP = """
    INSERT INTO jobs (id, name, drawing_key, status, created_at, updated_at, started_at)
    SELECT id, 'race', 'race', 'running', at, at, at
    FROM unnest(%(jobs)s::uuid[]) AS id, (SELECT clock_timestamp() - interval '2 h' AS at) AS times;
"""
_SETUP_BLOCKS = """
    INSERT INTO blocks (id, job_id, number, page, box, image_key, created_at)
    SELECT id, id, 1, 1, '[0, 0, 1, 1]', 'race', clock_timestamp() - interval '2 h'
    FROM unnest(%(jobs)s::uuid[]) AS id;
"""
_SETUP_STEPS = """
    INSERT INTO steps (id, job_id, block_id, check_name, status, attempt, lease_until, created_at, updated_at)
    SELECT id, job, job, id, CASE WHEN lease_s IS NULL THEN 'pending' ELSE 'running' END,
        CASE WHEN lease_s IS NULL THEN 0 ELSE 1 END, clock_timestamp() + lease_s * interval '1 s', at, at
    FROM unnest(%(ids)s::uuid[], %(owners)s::uuid[], %(leases)s::float8[]) AS rows (id, job, lease_s),
        (SELECT clock_timestamp() - interval '2 h' AS at) AS times;
"""


async def play(owner: DatabaseSecret, application: DatabaseSecret, *, races: int, seed: int) -> list[Violation]:
    """Play so many races, one after the other, and return what went wrong."""
    chance, found = random.Random(seed), list[Violation]()
    async with await _connected(owner) as referee:
        seats = [await _connected(application) for _ in range(MOST)]
        try:
            for begin in range(0, races, _BATCH):
                batch = [draw(chance) for _ in range(min(_BATCH, races - begin))]
                await _set_up(referee, batch)
                answers = [await _play(race, seats) for race in batch]
                found += await judge(referee, batch, answers)
        finally:
            for seat in seats:
                await seat.close()
    return found


async def _connected(secret: DatabaseSecret) -> psycopg.AsyncConnection[Any]:
    return await psycopg.AsyncConnection.connect(
        host=secret.host,
        port=secret.port,
        dbname=secret.dbname,
        user=secret.username,
        password=secret.password,
        autocommit=True,
    )


async def _set_up(referee: psycopg.AsyncConnection[Any], batch: list[Race]) -> None:
    jobs = {"jobs": [race.job for race in batch]}
    rows = [
        (step.id, race.job, None if step.pending else -1.0 if step.expired else 60.0)
        for race in batch
        for step in race.steps
    ]
    ids, owners, leases = (list(column) for column in zip(*rows, strict=True))
    async with referee.transaction():
        await referee.execute(_SETUP, jobs)
        await referee.execute(_SETUP_BLOCKS, jobs)
        await referee.execute(_SETUP_STEPS, {"ids": ids, "owners": owners, "leases": leases})


async def _play(race: Race, seats: list[psycopg.AsyncConnection[Any]]) -> list[Any]:
    return await asyncio.gather(*(_answer(player, seat) for player, seat in zip(race.players, seats, strict=False)))


async def _answer(player: Player, seat: psycopg.AsyncConnection[Any]) -> Any:
    """Return what the player was answered; an error is an answer too."""
    try:
        cursor = await seat.execute(player.script)
    except psycopg.Error as error:
        await seat.rollback()
        return error
    while True:
        if cursor.description and cursor.description[0].name == "answer":
            (answer,) = await cursor.fetchone() or (None,)
            return answer
        assert cursor.nextset(), player.script
