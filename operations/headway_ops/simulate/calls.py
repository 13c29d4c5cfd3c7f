"""The model's side: calls in flight against the quota."""

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway_ops.simulate.worker import Holding


class Calls:
    """Counts calls in flight.

    ``rate_limited``: calls that met a 429. ``over_quota``: calls that began beyond the quota, which must be none.
    ``line`` are those that wait for a place.
    """

    __slots__ = ("begun", "busy_s", "in_flight", "line", "over_quota", "peak", "quota", "rate_limited")

    def __init__(self, quota: int) -> None:
        self.quota = quota
        self.in_flight = 0
        self.peak = 0
        self.rate_limited = 0
        self.over_quota = 0
        self.begun = 0
        self.busy_s = 0.0
        self.line: deque[Holding] = deque()

    def begin(self, seconds: float) -> None:
        """Note a call of so many seconds."""
        self.in_flight += 1
        self.begun += 1
        self.busy_s += seconds
        if self.in_flight > self.peak:
            self.peak = self.in_flight
            self.over_quota += self.in_flight > self.quota
