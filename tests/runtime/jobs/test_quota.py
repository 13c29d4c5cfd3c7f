"""The fleet's leases, on real PostgreSQL: who is let through, who waits, whose place comes back."""

import dataclasses
import doctest
import uuid
from uuid import UUID

import pytest
import sqlalchemy as sa

from headway.contract import DatabaseSecret
from headway.jobs import JobStoreError, connect, quota
from headway.jobs.quota import LeaseTerms, Standing, ask, give_back, look, renew, set_quota
from headway.jobs.schema import call_leases, call_quota
from headway_ops.local.ports import free_port

_TERMS = LeaseTerms(lease_s=120.0, beat_s=40.0, waiting_s=60.0)
#: Both kinds of lease are over as soon as they begin.
_OVER = LeaseTerms(lease_s=0.0, beat_s=40.0, waiting_s=0.0)


def _quota(engine: sa.Engine, calls: int) -> None:
    """Set the quota, with the database just heard of."""
    set_quota(engine, calls)
    _unheard(engine, 0.0)


def _unheard(engine: sa.Engine, seconds: float) -> None:
    """Make it so many seconds since anybody was heard of, and every lease so much older."""
    passed = sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds)
    with engine.begin() as connection:
        connection.execute(sa.update(call_quota).values(heard_at=sa.func.clock_timestamp() - passed))
        connection.execute(sa.update(call_leases).values(expires_at=call_leases.c.expires_at - passed))


def _ask(engine: sa.Engine, lease: UUID, *, calls: int = 99, terms: LeaseTerms = _TERMS) -> bool:
    return ask(engine, lease, calls=calls, terms=terms).admitted


def _holders(engine: sa.Engine, count: int, *, terms: LeaseTerms = _TERMS) -> list[UUID]:
    """Return the leases of so many calls in flight."""
    leases = [uuid.uuid4() for _ in range(count)]
    for lease in leases:
        assert _ask(engine, lease, terms=terms)
    return leases


def test_the_examples_hold() -> None:
    """As the methods show them."""
    assert doctest.testmod(quota).failed == 0


def test_a_full_quota_lets_nobody_in_until_somebody_leaves(engine: sa.Engine) -> None:
    """Three places, three calls: the fourth waits, and gets the first place that is given back."""
    _quota(engine, 3)
    first, *_ = _holders(engine, 3)
    fourth = uuid.uuid4()
    standing = ask(engine, fourth, calls=99, terms=_TERMS)
    assert (standing.admitted, standing.in_flight, standing.ahead, standing.quota) == (False, 3, 0, 3)
    give_back(engine, first)
    assert look(engine, fourth, calls=99).admitted
    assert _ask(engine, fourth)


def test_who_waits_longer_comes_first(engine: sa.Engine) -> None:
    """However often the second asks: it is let in after the first, and so is one that has just come."""
    _quota(engine, 1)
    (holder,) = _holders(engine, 1)
    first, second, newcomer = (uuid.uuid4() for _ in range(3))
    assert [_ask(engine, lease) for lease in (first, second)] == [False, False]
    give_back(engine, holder)
    assert [_ask(engine, lease) for lease in (second, newcomer, first)] == [False, False, True]
    give_back(engine, first)
    assert [_ask(engine, lease) for lease in (newcomer, second)] == [False, True]


def test_asking_twice_takes_one_place(engine: sa.Engine) -> None:
    """A grant whose answer was lost is asked for again, and counted once."""
    _quota(engine, 2)
    (lease,) = _holders(engine, 1)
    assert _ask(engine, lease)
    assert ask(engine, uuid.uuid4(), calls=99, terms=_TERMS).in_flight == 1


def test_a_dead_holders_place_comes_back(engine: sa.Engine) -> None:
    """Its lease is over by the database's clock; one that was renewed is not."""
    _quota(engine, 2)
    dead, alive = _holders(engine, 2, terms=_OVER)
    assert renew(engine, alive, terms=_TERMS)
    standing = ask(engine, uuid.uuid4(), calls=99, terms=_TERMS)
    assert (standing.admitted, standing.in_flight) == (True, 1)
    assert not _ask(engine, uuid.uuid4())
    # It was not dead after all: its call is in flight, so it counts, and nobody is let in beside it.
    assert renew(engine, dead, terms=_TERMS)
    assert look(engine, uuid.uuid4(), calls=99).in_flight == 3


def test_a_dead_waiter_leaves_the_line(engine: sa.Engine) -> None:
    """Nobody waits behind it for longer than it promised to look again."""
    _quota(engine, 1)
    (holder,) = _holders(engine, 1)
    assert not _ask(engine, uuid.uuid4(), terms=_OVER)
    give_back(engine, holder)
    assert _ask(engine, uuid.uuid4())


def test_a_place_is_given_back_once_and_by_nobody_else(engine: sa.Engine) -> None:
    """Giving back twice, or what one never had, frees nobody's place; and a late renewal takes none."""
    _quota(engine, 2)
    mine, _other = _holders(engine, 2)
    give_back(engine, uuid.uuid4())
    assert look(engine, uuid.uuid4(), calls=99).in_flight == 2
    for _ in range(2):
        give_back(engine, mine)
    assert not renew(engine, mine, terms=_TERMS)
    assert look(engine, uuid.uuid4(), calls=99).in_flight == 1


def test_waiting_is_no_lease_to_renew(engine: sa.Engine) -> None:
    """Only what was granted can be held on."""
    _quota(engine, 0)
    lease = uuid.uuid4()
    assert not _ask(engine, lease)
    assert not renew(engine, lease, terms=_TERMS)


def test_a_lowered_quota_lets_calls_end_before_another_begins(engine: sa.Engine) -> None:
    """From four to two: with four, three and two in flight nobody enters, with one somebody does. Up again: at once."""
    _quota(engine, 4)
    holders = _holders(engine, 4)
    set_quota(engine, 2)
    waiting = uuid.uuid4()
    for holder in holders[:3]:
        assert not _ask(engine, waiting)
        give_back(engine, holder)
    assert _ask(engine, waiting)
    more = [uuid.uuid4() for _ in range(3)]
    assert [_ask(engine, lease) for lease in more] == [False, False, False]
    set_quota(engine, 4)
    assert [_ask(engine, lease) for lease in more] == [True, True, False]


def test_the_lower_of_two_quotas_holds_during_a_deploy(engine: sa.Engine) -> None:
    """Old and new tasks were told different numbers: neither kind exceeds its own, nor the store's."""
    _quota(engine, 4)
    _holders(engine, 2)
    assert not _ask(engine, uuid.uuid4(), calls=2)
    assert ask(engine, uuid.uuid4(), calls=9, terms=_TERMS).quota == 4


def test_an_outage_ends_no_lease(engine: sa.Engine) -> None:
    """Nobody could renew for ten minutes, so nobody is taken for dead; from then on time counts again."""
    _quota(engine, 2)
    alive, _dead = _holders(engine, 2)
    _unheard(engine, 600.0)
    waiting = uuid.uuid4()
    assert not _ask(engine, waiting)
    assert renew(engine, alive, terms=_TERMS)
    for _ in range(4):  # heard of every 30 s, as by those who wait
        _unheard(engine, 30.0)
        renew(engine, alive, terms=_TERMS)
    assert _ask(engine, waiting)


@pytest.mark.parametrize(
    ("standing", "asks"),
    [
        (Standing(in_flight=2, ahead=0, quota=3, left_s=60.0), True),
        (Standing(in_flight=2, ahead=1, quota=3, left_s=60.0), False),
        (Standing(in_flight=3, ahead=0, quota=3, left_s=29.0), True),
        (Standing(in_flight=3, ahead=0, quota=3, left_s=60.0, silent_s=19.0), False),
        (Standing(in_flight=3, ahead=0, quota=3, left_s=60.0, silent_s=21.0), True),
        (Standing(in_flight=3, ahead=5, quota=3, left_s=60.0, silent_s=23.0), False),
        (Standing(in_flight=3, ahead=5, quota=3, left_s=60.0, silent_s=25.0), True),
        (Standing(in_flight=3, ahead=500, quota=3, left_s=60.0, silent_s=37.0), True),
    ],
)
def test_a_look_is_enough_until_it_is_the_turn_or_time_for_a_sign_of_life(standing: Standing, asks: bool) -> None:
    """Of itself after half of its 60 s; of anybody after half a beat of 40 s, and a little more further back."""
    assert standing.should_ask(_TERMS) is asks


@pytest.mark.parametrize(("leases_ago", "left"), [(99, 1), (101, 0)])
def test_expired_rows_are_swept(engine: sa.Engine, leases_ago: int, left: int) -> None:
    """A hundred leases later nobody comes back for one; until then it is kept."""
    _quota(engine, 9)
    (old,) = _holders(engine, 1)
    with engine.begin() as connection:
        ago = sa.func.make_interval(0, 0, 0, 0, 0, 0, leases_ago * 120.0)
        connection.execute(sa.update(call_leases).values(expires_at=sa.func.clock_timestamp() - ago))
    # Heard of before, and not silent for long.
    with engine.begin() as connection:
        passed = sa.func.make_interval(0, 0, 0, 0, 0, 0, 20.0)
        connection.execute(sa.update(call_quota).values(heard_at=sa.func.clock_timestamp() - passed))
    _holders(engine, 1)
    with engine.connect() as connection:
        rows = sa.select(sa.func.count()).where(call_leases.c.id == old)
        assert connection.scalar(rows) == left


def test_a_job_store_that_is_away_is_said_in_one_line(database: DatabaseSecret) -> None:
    """For a worker that boots."""
    gone = connect(dataclasses.replace(database, port=free_port()))
    with pytest.raises(JobStoreError, match=r"^job store: "):
        set_quota(gone, 1)
    gone.dispose()
