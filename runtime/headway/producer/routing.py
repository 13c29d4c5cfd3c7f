"""Which lane does a new job go to? One pure function, so that the rollout switch cannot mean two things."""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Route:
    """A lane, and a warning where it is not the one that was asked for."""

    lane: str
    warning: str = ""


def choose_lane(fast_queue: str, *, main_lane: str, lanes: Collection[str]) -> Route:
    """Return the fast lane where the switch names one that exists, and the main lane otherwise.

    A lane that does not exist is never used: its messages would sit where no worker reads.

    >>> choose_lane("", main_lane="heavy", lanes=["heavy", "fast"])
    Route(lane='heavy', warning='')
    """
    wanted = fast_queue.strip()
    if not wanted or wanted in lanes:
        return Route(lane=wanted or main_lane)
    known = ", ".join(sorted(lanes))
    return Route(lane=main_lane, warning=f"FAST_QUEUE = {wanted!r}: no such lane ({known}); sending to {main_lane}")
