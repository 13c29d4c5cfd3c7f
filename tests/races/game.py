"""One random race: a silent job whose steps are held, and those who come for it at the same moment."""

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
    """Somebody who calls one function of the job store, in a transaction of its own; ``pays`` where for a call too."""

    kind: str
    call: str
    pays: bool = False
    late_s: float = 0.0
    holds_s: float = 0.0

    @property
    def script(self) -> str:
        """All that it says to the server, in one message."""
        late = f"SELECT pg_sleep({self.late_s});" if self.late_s else ""
        hold = f"SELECT pg_sleep({self.holds_s});" if self.holds_s else ""
        return f"{late} BEGIN; SELECT {self.call} AS answer; {hold} COMMIT"


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step that is held at attempt 1, by a lease that still runs, or has expired."""

    id: UUID
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
    steps = tuple(Step(id=uuid.uuid4(), expired=chance.random() < 0.5) for _ in range(chance.choice((1, 1, 2))))
    calls = [*_enders(job, chance), *(call for step in steps for call in _callbacks(step, chance))]
    chance.shuffle(calls)
    players = [
        Player(kind=kind, call=call, pays=pays, late_s=chance.choice(_LATE_S), holds_s=chance.choice(_HOLDS_S))
        for kind, call, pays in calls[:MOST]
    ]
    return Race(job=job, steps=steps, players=players)


def _enders(job: UUID, chance: random.Random) -> list[tuple[str, str, bool]]:
    sweep = ("sweep", f"sweep_job('{job}', true, {_IDLE_S}, 'sweep', 'silent')", False)
    cancel = ("cancel", f"cancel_job('{job}', 'a person', 'changed my mind')", False)
    return [*(chance.choice((1, 2, 2)) * [sweep]), *(chance.choice((0, 1)) * [cancel])]


def _callbacks(step: Step, chance: random.Random) -> list[tuple[str, str, bool]]:
    """Return what comes for a step: its holder, late or not; a redelivery; and the same holder's other words."""
    found = []
    if chance.random() < 0.7:
        paid = (
            f'[{{"id": "{uuid.uuid4()}", "outcome": "ok", "accepted": true, "latency_s": 1, "input_tokens": 1,'
            ' "output_tokens": 1, "cost_usd": 0.5, "rate_limited": 0, "in_flight_at_start": 1}]'
        )
        found.append(("finish", f"finish_step('{step.id}', 1, 'succeeded', '{{}}', NULL, '{paid}')", True))
    if chance.random() < 0.5:
        found.append(("renew", f"renew_step('{step.id}', 1, 60)", False))
    if chance.random() < 0.4:
        found += chance.choice((1, 2)) * [("release", f"release_step('{step.id}', 1, 'refused', '[]')", False)]
    if chance.random() < 0.4:
        found += chance.choice((1, 2)) * [("claim", f"claim_step('{step.id}', 60)", False)]
    return found
