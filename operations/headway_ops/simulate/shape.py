"""How a policy's workers work: what one message is, who protects what, who extends what."""

from dataclasses import dataclass
from enum import Enum, auto

from headway_ops.simulate.stage import ServiceShape


class Lanes(Enum):
    """Which queues there are, and who consumes them."""

    #: A service for each lane.
    DEDICATED = auto()
    #: Two queues, both consumed by the heavy service; an interactive message is taken first.
    SHARED = auto()
    #: One queue for everything.
    SINGLE = auto()


class Guard(Enum):
    """When a task protects itself from scale-in."""

    #: Work starts only once protection is confirmed; it is held until the last message is done. Headway's.
    BARRIER = auto()
    #: Asked for with the first message and ended with the last; work does not wait for the answer.
    COUNTED = auto()
    #: Set when any message begins and cleared when any ends, whatever its siblings do.
    PER_MESSAGE = auto()
    #: Never.
    NONE = auto()


@dataclass(frozen=True, kw_only=True)
class FleetShape:
    """A fleet's workers.

    ``split``: one message is one model call; else it is one block, whose calls share the message's slot.
    ``extends``: a message's visibility is extended while its work lives; else it comes back when it ends.
    ``leases``: a call waits for a place in the fleet's quota; else the model answers 429 to those beyond it.
    """

    heavy: ServiceShape
    fast: ServiceShape | None
    lanes: Lanes = Lanes.DEDICATED
    guard: Guard = Guard.BARRIER
    split: bool = True
    extends: bool = True
    leases: bool = True
