"""Which fault comes when? Pure: a seed goes in, and the same seed brings the same faults."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What is done to the stage."""

    KILL_WORKER = "kill -9 of a worker"
    KILL_CHILD = "kill -9 of one pool process"
    DEPLOYMENT = "SIGTERM of a worker beside its replacement"
    DUPLICATES = "messages sent again"
    LOST_ACKS = "lost acknowledgements"
    ENDPOINT_DOWN = "an endpoint that breaks every request"
    ENDPOINT_HANGS = "an endpoint that does not answer"
    DATABASE_RESTART = "a restart of the job store"
    RATE_LIMITS = "a storm of 429s"
    REFUSALS = "an agent that refuses protection"


#: How often each kind comes, relative to the others.
_WEIGHTS = {
    Kind.KILL_WORKER: 3,
    Kind.KILL_CHILD: 4,
    Kind.DEPLOYMENT: 3,
    Kind.DUPLICATES: 3,
    Kind.LOST_ACKS: 3,
    Kind.ENDPOINT_DOWN: 1,
    Kind.ENDPOINT_HANGS: 1,
    Kind.DATABASE_RESTART: 1,
    Kind.RATE_LIMITS: 2,
    Kind.REFUSALS: 2,
}
#: Wall seconds from one fault to the next.
_GAP_S = (1.0, 3.0)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault, so many wall seconds after the start; ``lasts_s`` where it is a state and no moment."""

    at_s: float
    kind: Kind
    lasts_s: float


def faults(seed: int) -> Iterator[Fault]:
    """Yield faults without end, in order of time: first each kind once, then at random."""
    draw = random.Random(seed)
    first = draw.sample(list(Kind), len(Kind))
    at_s = 0.0
    while True:
        at_s += draw.uniform(*_GAP_S)
        kind = first.pop() if first else draw.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
        yield Fault(at_s=at_s, kind=kind, lasts_s=draw.uniform(1.0, 3.0))
