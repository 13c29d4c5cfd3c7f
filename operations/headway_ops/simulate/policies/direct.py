"""Controllers that need no alarm: a fixed count, and a count computed from each reading."""

import math
from collections import deque
from collections.abc import Callable

from headway.scaling import Reading


class Fixed:
    """Never changes anything."""

    def look(self, reading: Reading, cpu_percent: float, now: float) -> None:
        """See nothing."""

    def decide(self, now: float, desired: int, *, start: int | None = None, deploying: bool = False) -> int:
        """Leave it as it is."""
        return desired


class Computed:
    """Sets what a formula says of the latest reading; ``down_s``: no lower than what it said in so many seconds."""

    def __init__(self, formula: Callable[[Reading], int], *, down_s: float = 0.0) -> None:
        self._formula, self._down_s = formula, down_s
        self._said: deque[tuple[float, int]] = deque()

    def look(self, reading: Reading, cpu_percent: float, now: float) -> None:
        """Compute a count."""
        self._said.append((now, self._formula(reading)))
        while self._said[0][0] < now - self._down_s:
            self._said.popleft()

    def decide(self, now: float, desired: int, *, start: int | None = None, deploying: bool = False) -> int:
        """Return the latest count, or the highest of late where it is lower than what is desired."""
        if not self._said:
            return desired
        latest = self._said[-1][1]
        return latest if latest >= desired else min(desired, max(count for _, count in self._said))


def messages_per_task(messages: Callable[[Reading], int], per_task: float, most: int) -> Callable[[Reading], int]:
    """Return the formula ceil(messages / per_task), between one and ``most`` tasks."""
    return lambda reading: min(max(math.ceil(messages(reading) / per_task), 1), most)
