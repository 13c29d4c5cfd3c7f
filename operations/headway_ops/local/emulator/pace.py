"""May a schedule start another task? One that is faster than the clock would start more than ever end."""

import math

#: Tasks of one schedule that run at the same time.
_MOST_AT_ONCE = 2


class Pace:
    """Keeps the tasks of each schedule ``min_wall_s`` wall seconds apart, and few at a time."""

    def __init__(self, min_wall_s: float) -> None:
        self._min_wall_s = min_wall_s
        #: When a task of each definition was last started.
        self._last: dict[str, float] = {}

    def starts(self, revision: str, *, running: int, now: float) -> bool:
        """Return whether a task of ``revision`` starts ``now``, monotonic seconds, beside those that run; note it."""
        soon = now - self._last.get(revision, -math.inf) < self._min_wall_s
        if soon or running >= _MOST_AT_ONCE:
            return False
        self._last[revision] = now
        return True
