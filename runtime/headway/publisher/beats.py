"""When does each beat of a minute run? On marks counted from the minute's start, so that no delay adds up."""

import math
from collections.abc import Callable

_MINUTE_S = 60


def run_minute(
    beat: Callable[[], None],
    *,
    every_s: int,
    speed: float,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> int:
    """Call ``beat`` at each multiple of ``every_s`` stage seconds in one stage minute; return how many calls it made.

    ``clock`` and ``sleep`` count wall seconds, of which a stage minute has 60 / ``speed``. A mark that passed while
    an earlier beat was still running is left out: two readings never share one period.
    """
    start, interval = clock(), every_s / speed
    mark = calls = 0
    while mark < _MINUTE_S // every_s:
        sleep(max(0.0, start + mark * interval - clock()))
        beat()
        calls += 1
        mark = max(mark + 1, math.ceil((clock() - start) / interval))
    return calls
