"""How long work waited: a histogram, so that a simulated month needs no more room than a day."""

import math


class Waits:
    """Counts waits to ``resolution_s``; quantiles are the upper edge of their bucket, never too small.

    ``longest_lately_s`` is what a chart takes, and sets back to 0, at each of its points.
    """

    __slots__ = ("_buckets", "_per_s", "count", "longest_lately_s", "longest_s", "total_s")

    def __init__(self, *, resolution_s: float) -> None:
        self._per_s = 1 / resolution_s
        self._buckets: dict[int, int] = {}
        self.count = 0
        self.total_s = 0.0
        self.longest_s = 0.0
        self.longest_lately_s = 0.0

    def add(self, wait_s: float) -> None:
        """Note one wait."""
        bucket = int(wait_s * self._per_s)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1
        self.count += 1
        self.total_s += wait_s
        if wait_s > self.longest_lately_s:
            self.longest_lately_s = wait_s
            if wait_s > self.longest_s:
                self.longest_s = wait_s

    def quantile(self, share: float) -> float:
        """Return a wait that at least ``share`` of all did not exceed, seconds; 0 where nothing waited."""
        rank, seen = math.ceil(share * self.count), 0
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= rank:
                return min((bucket + 1) / self._per_s, self.longest_s)
        return 0.0

    @property
    def mean_s(self) -> float:
        """The mean wait, seconds."""
        return self.total_s / self.count if self.count else 0.0
