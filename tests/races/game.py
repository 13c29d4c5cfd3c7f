"""One random race: a silent job whose steps are held, and those who come for it at the same moment."""

import dataclasses
import random
import uuid
from dataclasses import dataclass, field
from uuid import UUID

_IDLE_S = 3600.0
#: The most that come for one job.
MOST = 6
#: Wall seconds by which one of them is late, and for which it keeps its transaction open.
_LATE_S = (0.0, 0.0, 0.001, 0.002)
_HOLDS_S = (0.0, 0.0, 0.001, 0.002)


@dataclass(frozen=True, kw_only=True)
class Player:
    """Somebody who calls one function of the job store, in a transaction of its own; ``pays`` where for a call too.

    ``first`` is called before it, in another transaction.
    """

    kind: str
    call: str
    first: str = ""
    pays: bool = False
    late_s: float = 0.0
    holds_s: float = 0.0

    @property
    def script(self) -> str:
        """All that it says to the server, in one message."""
        late = f"SELECT pg_sleep({self.late_s});" if self.late_s else ""
        hold = f"SELECT pg_sleep({self.holds_s});" if self.holds_s else ""
        # What stands before a BEGIN in a message would be of its transaction (PostgreSQL manual, 53.2.2.1).
        first = f"BEGIN; SELECT {self.first}; COMMIT;" if self.first else ""
        return f"{late} {first} BEGIN; SELECT {self.call} AS answer; {hold} COMMIT"


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step that waits to be claimed, or is held at attempt 1 by a lease that still runs, or has expired."""

    id: UUID
    pending: bool
    expired: bool


@dataclass(frozen=True, kw_only=True)
class Race:
    """A job, its steps, and the players."""

    job: UUID
    steps: tuple[Step, ...]
    players: list[Player] = field(default_factory=list)


def draw(chance: random.Random) -> Race:
    """Return the next race: the same one for the same chance, but for its ids."""
    job = uuid.uuid4()
    steps = tuple(
        Step(id=uuid.uuid4(), pending=chance.random() < 0.2, expired=chance.random() < 0.5)
        for _ in range(chance.choice((1, 2, 2)))
    )
    comers = [*_enders(job, chance), *(comer for step in steps for comer in _callbacks(step, chance))]
    chance.shuffle(comers)
    players = [
        dataclasses.replace(comer, late_s=chance.choice(_LATE_S), holds_s=chance.choice(_HOLDS_S))
        for comer in comers[:MOST]
    ]
    return Race(job=job, steps=steps, players=players)


def _enders(job: UUID, chance: random.Random) -> list[Player]:
    sweep = Player(kind="sweep", call=f"sweep_job('{job}', true, {_IDLE_S}, 'sweep', 'silent')")
    cancel = Player(kind="cancel", call=f"cancel_job('{job}', 'a person', 'changed my mind')")
    return [*(chance.choice((0, 1, 2)) * [sweep]), *(chance.choice((0, 1)) * [cancel])]


def _callbacks(step: Step, chance: random.Random) -> list[Player]:
    """Return who comes for a step: its holder, late or not; a redelivery; and the same holder's other words."""
    claim = Player(kind="claim", call=f"claim_step('{step.id}', 60)")
    paid = (
        f'[{{"id": "{uuid.uuid4()}", "outcome": "ok", "accepted": true, "latency_s": 1, "input_tokens": 1,'
        ' "output_tokens": 1, "cost_usd": 0.5, "rate_limited": 0, "in_flight_at_start": 1}]'
    )
    finish = Player(
        kind="finish",
        first=claim.call if step.pending else "",
        call=f"finish_step('{step.id}', 1, 'succeeded', '{{}}', NULL, '{paid}')",
        pays=True,
    )
    renew = Player(kind="renew", call=f"renew_step('{step.id}', 1, 60)")
    release = Player(kind="release", call=f"release_step('{step.id}', 1, 'refused', '[]')")
    found = [finish] if chance.random() < 0.8 else []
    if not step.pending:
        found += [renew] if chance.random() < 0.4 else []
        found += chance.choice((1, 2)) * [release] if chance.random() < 0.3 else []
    found += chance.choice((1, 2)) * [claim] if chance.random() < 0.3 else []
    return found
