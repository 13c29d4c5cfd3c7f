"""When does each beat of a minute run? Shortly before each period of the alarms ends: they act on fresh news."""

from collections.abc import Callable

from headway.scaling.turns import next_reading

#: The schedule invokes at the start of a minute, at most seconds late: a beat later than this belongs to the next
#: invocation, which must not find this one still running.
_LAST_S = 59.0


def run_minute(
    beat: Callable[[], None],
    *,
    every_s: int,
    speed: float,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> int:
    """Call ``beat`` at each reading's time in the stage minute that begins now; return how many calls it made.

    ``clock`` counts wall seconds from the epoch and ``sleep`` waits for some, of which a stage minute has 60 /
    ``speed``. A time that passed while an earlier beat was still running is left out: two readings never share a
    period.
    """
    start = clock() * speed
    mark, calls = next_reading(start, every_s), 0
    while mark < start + _LAST_S:
        sleep(max(mark / speed - clock(), 0.0))
        beat()
        calls += 1
        # Half an interval on, so that no rounding finds the same mark again.
        mark = next_reading(max(clock() * speed, mark + every_s / 2), every_s)
    return calls
