"""Which lane does a new job go to? One pure function, so that the rollout switch cannot mean two things."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

#: What the fast lane is called where the rollout switch does not say.
FAST_LANE = "fast"


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


@dataclass(frozen=True, kw_only=True)
class Lanes:
    """Queue URLs by lane, and a warning where one lane stands for another."""

    urls: Mapping[str, str]
    warning: str = ""


def aliased(queue_urls: Mapping[str, str], fast_queue: str, *, main_lane: str) -> Lanes:
    """Return the lanes, with the main lane's queue behind a fast lane that does not exist.

    A worker's task that sends to it would fail else, in the middle of its work (Kombu's UndefinedQueueException).

    >>> aliased({"heavy": "u"}, "express", main_lane="heavy")
    Lanes(urls={'heavy': 'u', 'express': 'u'}, warning="no lane 'express': what is sent to it goes to heavy")
    >>> aliased({"heavy": "u", "fast": "v"}, "", main_lane="heavy")
    Lanes(urls={'heavy': 'u', 'fast': 'v'}, warning='')
    """
    wanted = fast_queue.strip() or FAST_LANE
    if wanted in queue_urls or main_lane not in queue_urls:
        return Lanes(urls=queue_urls)
    warning = f"no lane {wanted!r}: what is sent to it goes to {main_lane}"
    return Lanes(urls={**queue_urls, wanted: queue_urls[main_lane]}, warning=warning)
