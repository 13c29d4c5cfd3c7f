"""How do all tasks together keep within the model's call quota, old and new ones during a deploy included?

Whoever wants to call stands in line as a row of call_leases, and holds one that was granted while its call runs. One
row is let through after the other, under the lock of call_quota's only row: the calls in flight and those that have
waited longer must be fewer than the quota. The lock lasts for a few statements, never for a call. Time is the
database's, and does not count against anybody while the database was heard of by nobody.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from headway.jobs.database import JobStoreError, at_once, first_line
from headway.jobs.schema import call_leases, call_quota

#: A silence of so many beats is an outage: no holder could renew, so that what has expired says nothing of its holder.
_SILENT_BEATS = 1.5
#: The time at which the quota was last heard of is kept to this part of a beat.
_HEARD_BEATS = 0.25
#: The first in line is heard of when nobody was for this part of a beat, or time would stand still where all holders
#: are dead; each one behind is, if the first is dead too, after so much more, up to the twentieth.
_UNHEARD_BEATS, _UNHEARD_MORE_BEATS, _UNHEARD_STEPS = 0.5, 0.02, 20
#: Expired rows are kept for so many leases, for holders that come back late.
_KEPT_LEASES = 100


@dataclass(frozen=True, kw_only=True)
class LeaseTerms:
    """For how long a row counts without a sign of life, wall seconds.

    ``lease_s``: a granted one; its holder renews it every ``beat_s``. ``waiting_s``: one that waits in line.
    """

    lease_s: float
    beat_s: float
    waiting_s: float

    def forgiven_s(self, silent_s: float) -> float:
        """Return by how much every lease is lengthened after so long a silence of everybody.

        >>> terms = LeaseTerms(lease_s=120, beat_s=40, waiting_s=60)
        >>> terms.forgiven_s(59), terms.forgiven_s(300)
        (0.0, 300.0)
        """
        return float(silent_s) if silent_s > _SILENT_BEATS * self.beat_s else 0.0


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where somebody stands: other calls in flight, and others who have waited longer.

    ``quota`` is the calls that may be in flight, ``left_s`` how long the own row still counts without another sign,
    ``silent_s`` how long ago anybody was heard of.
    """

    in_flight: int
    ahead: int
    quota: int
    left_s: float = 0.0
    silent_s: float = 0.0

    @property
    def admitted(self) -> bool:
        """Whether one more call may be sent, by this one.

        >>> Standing(in_flight=22, ahead=1, quota=24).admitted, Standing(in_flight=22, ahead=2, quota=24).admitted
        (True, False)
        """
        return self.in_flight + self.ahead < self.quota

    def should_ask(self, terms: LeaseTerms) -> bool:
        """Return whether a look calls for more than another look: it is the turn, or time for a sign of life."""
        patience_beats = _UNHEARD_BEATS + _UNHEARD_MORE_BEATS * min(self.ahead, _UNHEARD_STEPS)
        unheard = self.silent_s > patience_beats * terms.beat_s
        return self.admitted or unheard or self.left_s < terms.waiting_s / 2


def set_quota(engine: sa.Engine, calls: int) -> None:
    """Set how many calls may be in flight from now on; where more are, none begins until they are fewer.

    Raises:
        JobStoreError: PostgreSQL does not answer.
    """
    try:
        with engine.begin() as connection:
            connection.execute(sa.update(call_quota).where(call_quota.c.calls != calls).values(calls=calls))
    except sa.exc.OperationalError as error:
        raise JobStoreError(f"job store: {first_line(error)}") from None


def ask(engine: sa.Engine, lease: UUID, *, calls: int, terms: LeaseTerms) -> Standing:
    """Take the lease if it is its turn, or stand in line for it. Asking again changes no place in the line.

    ``calls`` is the quota that this process was told. During a deploy that changes it, the lower one holds.
    """
    with _locked(engine, terms) as connection:
        standing = _standing(connection, lease, calls)
        values = {
            "granted_at": sa.func.clock_timestamp() if standing.admitted else None,
            "expires_at": _in(terms.lease_s if standing.admitted else terms.waiting_s),
        }
        stand = insert(call_leases).values(id=lease, **values)
        connection.execute(stand.on_conflict_do_update(index_elements=["id"], set_=values))
        return standing


def look(engine: sa.Engine, lease: UUID, *, calls: int) -> Standing:
    """Return where the lease stands: one statement without a lock, and no more than a reason to ask again."""
    with at_once(engine) as connection:
        return _standing(connection, lease, calls)


def renew(engine: sa.Engine, lease: UUID, *, terms: LeaseTerms) -> bool:
    """Hold a granted lease on; False where there is none. One that expired counts again: its call is in flight."""
    with _locked(engine, terms) as connection:
        held = (call_leases.c.id == lease, call_leases.c.granted_at.is_not(None))
        renewal = sa.update(call_leases).where(*held).values(expires_at=_in(terms.lease_s))
        return bool(connection.execute(renewal).rowcount)


def give_back(engine: sa.Engine, lease: UUID) -> None:
    """Give the lease, or the place in the line, back; nothing happens where it was given back already."""
    with at_once(engine) as connection:
        connection.execute(sa.delete(call_leases).where(call_leases.c.id == lease))


def _in(seconds: float) -> sa.ColumnElement[Any]:
    return sa.func.clock_timestamp() + sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds)


def _live() -> sa.ColumnElement[bool]:
    return call_leases.c.expires_at > sa.func.clock_timestamp()


def _standing(connection: sa.Connection, lease: UUID, calls: int) -> Standing:
    own = sa.select(call_leases.c.turn).where(call_leases.c.id == lease).scalar_subquery()
    left = sa.extract("epoch", sa.func.max(call_leases.c.expires_at).filter(call_leases.c.id == lease))
    other, granted = call_leases.c.id != lease, call_leases.c.granted_at.is_not(None)
    # Without a row of its own, everybody who waits is ahead.
    earlier = sa.func.coalesce(call_leases.c.turn < own, sa.true())
    query = sa.select(
        sa.func.count().filter(other, granted, _live()).label("in_flight"),
        sa.func.count().filter(other, ~granted, earlier, _live()).label("ahead"),
        (left - sa.extract("epoch", sa.func.clock_timestamp())).label("left_s"),
        sa.select(call_quota.c.calls).scalar_subquery().label("calls"),
        sa.select(_silence()).scalar_subquery().label("silent_s"),
    ).select_from(call_leases)
    row = connection.execute(query).one()
    return Standing(
        in_flight=row.in_flight,
        ahead=row.ahead,
        quota=min(calls, row.calls),
        left_s=float(row.left_s or 0.0),
        silent_s=float(row.silent_s),
    )


@contextmanager
def _locked(engine: sa.Engine, terms: LeaseTerms) -> Iterator[sa.Connection]:
    """Begin a transaction that is alone, and count what time has passed.

    What it reads next is read after the lock: in READ COMMITTED each statement sees what was committed before it
    began (PostgreSQL manual, 13.2.1), so the one that waits for the lock must not be the one that counts.
    """
    with engine.begin() as connection:
        silent_s = float(connection.execute(_lock()).scalar_one())
        if silent_s > _HEARD_BEATS * terms.beat_s:
            _hear(connection, terms, silent_s)
        yield connection


def _silence() -> sa.ColumnElement[Any]:
    return sa.extract("epoch", sa.func.clock_timestamp() - call_quota.c.heard_at)


def _lock() -> sa.Select[Any]:
    return sa.select(_silence()).with_for_update()


def _hear(connection: sa.Connection, terms: LeaseTerms, silent_s: float) -> None:
    if forgiven_s := terms.forgiven_s(silent_s):
        counted_then = call_leases.c.expires_at > sa.select(call_quota.c.heard_at).scalar_subquery()
        longer = call_leases.c.expires_at + sa.func.make_interval(0, 0, 0, 0, 0, 0, forgiven_s)
        connection.execute(sa.update(call_leases).where(counted_then).values(expires_at=longer))
    connection.execute(sa.update(call_quota).values(heard_at=sa.func.clock_timestamp()))
    connection.execute(sa.delete(call_leases).where(call_leases.c.expires_at < _in(-_KEPT_LEASES * terms.lease_s)))
