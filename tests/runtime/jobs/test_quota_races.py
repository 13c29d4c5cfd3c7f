"""Many who want to call at once, on real PostgreSQL; and how each rule, left out, would be noticed."""

import functools
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest
import sqlalchemy as sa

from headway.jobs import quota
from headway.jobs.quota import LeaseTerms, Standing
from headway.jobs.schema import call_leases, call_quota

_CALLERS = 12
_QUOTA = 4
_CALLS_EACH = 12
_TERMS = LeaseTerms(lease_s=120.0, beat_s=40.0, waiting_s=60.0)
_OVER = LeaseTerms(lease_s=0.0, beat_s=40.0, waiting_s=0.0)

#: Each says what is wrong, or returns an empty text.
_Check = Callable[[sa.Engine], str]


@pytest.fixture
def engine(engine: sa.Engine) -> Iterator[sa.Engine]:
    """A job store with a connection for each caller."""
    made = sa.create_engine(engine.url, pool_size=_CALLERS)
    yield made
    made.dispose()


class _InFlight:
    """The calls in flight, as the model's server would count them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0
        self.most = 0

    def call(self, seconds: float) -> None:
        """Be in flight for so long."""
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(seconds)
        with self._lock:
            self._now -= 1


def _rush(engine: sa.Engine, seed: int) -> int:
    """Let all callers call as often as they like, and return the most calls that were in flight."""
    quota.set_quota(engine, _QUOTA)
    seen, together, failed = _InFlight(), threading.Barrier(_CALLERS), list[BaseException]()

    def calls(chance: random.Random) -> None:
        together.wait()
        try:
            for _ in range(_CALLS_EACH):
                lease = uuid.uuid4()
                while not quota.ask(engine, lease, calls=_QUOTA, terms=_TERMS).admitted:
                    if chance.random() < 0.1:  # gives up, and comes again
                        quota.give_back(engine, lease)
                seen.call(chance.random() * 0.02)
                for _ in range(chance.choice((1, 1, 2))):
                    quota.give_back(engine, lease)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=calls, args=(random.Random(f"{seed}/{n}"),)) for n in range(_CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    return seen.most


def _never_over(engine: sa.Engine, seeds: range = range(3)) -> str:
    for seed in seeds:
        if (most := _rush(engine, seed)) > _QUOTA:
            return f"seed {seed}: {most} in flight"
    return ""


def _used_in_full(engine: sa.Engine) -> str:
    return "" if (most := _rush(engine, 0)) == _QUOTA else f"{most} in flight"


def _taken(engine: sa.Engine, count: int, terms: LeaseTerms = _TERMS) -> list[UUID]:
    with engine.begin() as connection:
        connection.execute(sa.delete(call_leases))
        connection.execute(sa.update(call_quota).values(heard_at=sa.func.clock_timestamp()))
    quota.set_quota(engine, count)
    leases = [uuid.uuid4() for _ in range(count)]
    for lease in leases:
        quota.ask(engine, lease, calls=count, terms=terms)
    return leases


def _admitted(engine: sa.Engine) -> bool:
    return quota.ask(engine, uuid.uuid4(), calls=99, terms=_TERMS).admitted


def _dead_places_come_back(engine: sa.Engine) -> str:
    _taken(engine, 1, _OVER)
    return "" if _admitted(engine) else "a dead holder keeps its place"


def _live_places_are_kept(engine: sa.Engine) -> str:
    _taken(engine, 2)
    quota.give_back(engine, uuid.uuid4())
    return "somebody's place was given away" if _admitted(engine) else ""


def _the_line_is_kept(engine: sa.Engine) -> str:
    (holder,) = _taken(engine, 1)
    assert not _admitted(engine)
    quota.give_back(engine, holder)
    return "a newcomer went first" if _admitted(engine) else ""


def _outages_end_nothing(engine: sa.Engine) -> str:
    _taken(engine, 1)
    passed = sa.func.make_interval(0, 0, 0, 0, 0, 0, 600.0)
    with engine.begin() as connection:
        connection.execute(sa.update(call_quota).values(heard_at=sa.func.clock_timestamp() - passed))
        connection.execute(sa.update(call_leases).values(expires_at=call_leases.c.expires_at - passed))
    return "a call lost its place to an outage" if _admitted(engine) else ""


def _lower_quotas_hold(engine: sa.Engine) -> str:
    first, *_ = _taken(engine, 3)
    quota.set_quota(engine, 1)
    quota.give_back(engine, first)
    return "a place above the quota was handed out" if _admitted(engine) else ""


_CHECKS: dict[str, _Check] = {
    "never over": _never_over,
    "used in full": _used_in_full,
    "dead places come back": _dead_places_come_back,
    "live places are kept": _live_places_are_kept,
    "the line is kept": _the_line_is_kept,
    "outages end nothing": _outages_end_nothing,
    "lower quotas hold": _lower_quotas_hold,
}


@pytest.mark.parametrize("name", _CHECKS)
def test_the_rules_hold(engine: sa.Engine, name: str) -> None:
    """Twelve callers for four places: four in flight, never five, with three seeds; and what each other rule says."""
    assert _CHECKS[name](engine) == ""


def _lock_nothing() -> sa.Select[object]:
    return sa.select(sa.literal(0.0))


@contextmanager
def _lock_too_short(engine: sa.Engine, _terms: LeaseTerms) -> Iterator[sa.Connection]:
    with engine.begin() as connection:
        connection.execute(sa.select(call_quota.c.id).with_for_update())
    with engine.begin() as connection:
        yield connection


def _give_back_anybodys(engine: sa.Engine, lease: UUID) -> None:
    with engine.begin() as connection:
        oldest = sa.select(call_leases.c.id).order_by(call_leases.c.turn).limit(1).scalar_subquery()
        connection.execute(sa.delete(call_leases).where(call_leases.c.id == oldest))


#: What is broken, by what, and the check that must notice.
_MUTANTS: dict[str, tuple[object, str, object, str]] = {
    "no lock": (quota, "_lock", _lock_nothing, "never over"),
    "the lock is let go before the count": (quota, "_locked", _lock_too_short, "never over"),
    "expiry is not looked at": (quota, "_live", sa.true, "dead places come back"),
    "everything counts as expired": (quota, "_live", sa.false, "live places are kept"),
    "a place that is somebody else's is given back": (
        quota,
        "give_back",
        _give_back_anybodys,
        "live places are kept",
    ),
    "who waits is not counted": (
        Standing,
        "admitted",
        property(lambda standing: standing.in_flight < standing.quota),
        "the line is kept",
    ),
    "one too many": (
        Standing,
        "admitted",
        property(lambda standing: standing.in_flight + standing.ahead <= standing.quota),
        "never over",
    ),
    "an outage counts": (LeaseTerms, "forgiven_s", lambda _terms, _silent_s: 0.0, "outages end nothing"),
    "the store's quota is not read": (quota, "min", max, "lower quotas hold"),
}


@pytest.mark.parametrize("mutant", _MUTANTS)
def test_a_rule_that_is_left_out_is_noticed(engine: sa.Engine, monkeypatch: pytest.MonkeyPatch, mutant: str) -> None:
    """Each mutant fails the check that guards its rule; a race has up to twenty seeds to show itself."""
    owner, name, replacement, check = _MUTANTS[mutant]
    monkeypatch.setattr(owner, name, replacement, raising=name != "min")
    guard = functools.partial(_never_over, seeds=range(20)) if check == "never over" else _CHECKS[check]
    assert guard(engine) != ""
