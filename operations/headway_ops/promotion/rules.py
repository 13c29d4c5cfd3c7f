"""Which stack may be deployed now? The rules of promotion and of rolling back, over what is deployed.

Two rules keep messages: a lane gets its queue, then its workers, then its senders; and it loses its workers or its
queue only after its senders, and when nothing is left in it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from stacks.promotion import STACKS


class Phase(StrEnum):
    """Where a stack's last change has got to."""

    ABSENT = "absent"
    MOVING = "moving"
    SETTLED = "settled"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class StackState:
    """One stack: its phase, the lanes that it has queues or workers for, and whether it is of this release.

    ``sends`` are the lanes that it sends to by the rollout switch: a producer, and a consumer's reconciler.
    """

    phase: Phase = Phase.ABSENT
    lanes: frozenset[str] = frozenset()
    sends: frozenset[str] = frozenset()
    released: bool = False


@dataclass(frozen=True, kw_only=True)
class Promotion:
    """A stage on its way: its stacks by short name, the messages that each lane holds, and the queues left behind.

    ``retained``: the names of queues that a removed lane has left, by the lane that would make one of the same name.
    """

    stacks: Mapping[str, StackState]
    held: Mapping[str, int] = field(default_factory=dict)
    retained: Mapping[str, str] = field(default_factory=dict)

    def of(self, stack: str) -> StackState:
        """Return a stack's state."""
        return self.stacks.get(stack, StackState())

    def before(self, stack: str, lanes: frozenset[str]) -> Iterator[str]:
        """Yield what stands against deploying ``stack`` now, so that it has ``lanes``; nothing where it may go."""
        for name, state in self.stacks.items():
            if state.phase is Phase.MOVING:
                yield f"{name} is being changed: wait for its end"
        yield from self.missing(STACKS[: STACKS.index(stack)])
        for lane in sorted((self.of(stack).lanes - lanes) if stack in ("queues", "consumer") else ()):
            for sender in ("consumer", "producer"):
                if lane in self.of(sender).sends:
                    yield f"{sender} still sends to lane {lane}: deploy it with fast_lane = 'ready' first"
            if self.held.get(lane, 0):
                yield f"lane {lane} still holds {self.held[lane]} messages: wait until they are done"

        for lane in sorted((lanes - self.of(stack).lanes) & self.retained.keys() if stack == "queues" else ()):
            name = self.retained[lane]
            yield f"lane {lane}: queue {name} was retained: adopt it by cdk import, or set lanes.{lane}.queue_name"

    def missing(self, stacks: Iterable[str]) -> Iterator[str]:
        """Yield what is missing of stacks that are to be in place; one that a stage has none of is none to miss."""
        for name in stacks:
            if name not in self.stacks:
                continue
            state = self.stacks[name]
            if state.phase is Phase.ABSENT:
                yield f"{name} is not deployed: deploy it, and verify it"
            elif state.phase is Phase.FAILED:
                yield f"{name} has failed: deploy it again, and verify it"
            elif state.phase is Phase.SETTLED and not state.released:
                yield f"{name} is of another release: deploy it, and verify it"
