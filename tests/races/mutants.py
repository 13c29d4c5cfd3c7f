"""The job store's functions with one lock or guard taken away: races must find each of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import sql

from headway.contract import DatabaseSecret
from tests.races.players import Hall


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """``function`` with ``text`` replaced: what a tired person might write."""

    name: str
    function: str
    text: str
    by: str


MUTANTS = (
    Mutant(name="a beat does not lock its job", function="renew_step", text=" FOR SHARE", by=""),
    Mutant(name="a release does not lock its job", function="release_step", text=" FOR SHARE", by=""),
    Mutant(name="a claim does not lock its job", function="claim_step", text=" FOR SHARE", by=""),
    Mutant(
        name="a claim does not lock its step",
        function="claim_step",
        text="WHERE id = of_step FOR NO KEY UPDATE",
        by="WHERE id = of_step",
    ),
    Mutant(name="a finish does not lock its job", function="finish_step", text="of_job FOR NO KEY UPDATE", by="of_job"),
    Mutant(
        name="a finish takes FOR SHARE as a beat does",
        function="finish_step",
        text="FOR NO KEY UPDATE",
        by="FOR SHARE",
    ),
    Mutant(
        name="a finish beside others does not lock its job",
        function="finish_step",
        text="of_job FOR SHARE",
        by="of_job",
    ),
    Mutant(
        name="every finish goes beside others",
        function="others_wait",
        text="AND status = 'pending' AND id <> of_step",
        by="",
    ),
    Mutant(name="a finish takes FOR KEY SHARE", function="finish_step", text="FOR NO KEY UPDATE", by="FOR KEY SHARE"),
    Mutant(
        name="an end of a claim does not lock its step",
        function="end_claim",
        text="AND status = 'running' FOR NO KEY UPDATE",
        by="AND status = 'running'",
    ),
    Mutant(name="a sweep does not lock its job", function="sweep_job", text=" FOR UPDATE SKIP LOCKED", by=""),
    Mutant(
        name="a sweep takes FOR KEY SHARE",
        function="sweep_job",
        text="FOR UPDATE SKIP LOCKED",
        by="FOR KEY SHARE SKIP LOCKED",
    ),
    Mutant(
        name="a sweep does not look again",
        function="sweep_job",
        text="IF last_sign > clock_timestamp()",
        by="IF false AND last_sign > clock_timestamp()",
    ),
    Mutant(
        name="an end does not lock its job",
        function="end_job",
        text="WHERE id = of_job FOR NO KEY UPDATE",
        by="WHERE id = of_job",
    ),
    Mutant(
        name="an end leaves the steps open",
        function="end_job",
        text="AND steps.status IN ('pending', 'running') FOR NO KEY UPDATE",
        by="AND false",
    ),
    Mutant(
        name="a claim is stamped with its transaction's beginning",
        function="claim_step",
        text="moment := greatest(step.updated_at, clock_timestamp())",
        by="moment := now()",
    ),
)

#: A mutant that so many races do not find is missed; they are played in parts, until it is found.
_RACES, _PART = 500, 100


def caught(mutant: Mutant, races: Hall, *, seed: int) -> bool:
    """Return whether 500 races at most find the mutant."""
    with alive(mutant, races.server.owner):
        return any(races.play(races=_PART, seed=seed + part) for part in range(_RACES // _PART))


@contextmanager
def alive(mutant: Mutant, owner: DatabaseSecret) -> Iterator[None]:
    """Put the mutant in its function's place, and the function back."""
    with psycopg.connect(
        host=owner.host,
        port=owner.port,
        dbname=owner.dbname,
        user=owner.username,
        password=owner.password,
        autocommit=True,
    ) as connection:
        row = connection.execute(
            "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = %s", (mutant.function,)
        ).fetchone()
        assert row is not None, mutant.function
        assert mutant.text in row[0], f"{mutant.name}: {mutant.function} does not say {mutant.text!r}"
        connection.execute(sql.SQL(row[0].replace(mutant.text, mutant.by)))
        try:
            yield
        finally:
            connection.execute(sql.SQL(row[0]))
