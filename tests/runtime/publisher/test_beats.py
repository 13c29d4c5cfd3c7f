"""The beats of a minute: before each period ends, without drift, and never two in one period."""

import pytest

from headway.publisher.beats import run_minute
from tests.runtime.publisher.fakes import Clock

#: A minute's start on the clock, in wall seconds from the epoch.
MINUTE = 60_000.0


def beats(*, every_s: int, speed: float = 1.0, late: float = 0.0, work: tuple[float, ...] = ()) -> list[float]:
    """Run a minute that is invoked ``late``; its n-th beat works ``work[n]`` wall seconds; return when each began."""
    clock, begun = Clock(MINUTE + late), list[float]()

    def beat() -> None:
        begun.append(clock.now - MINUTE)
        clock.now += work[len(begun) - 1] if len(begun) <= len(work) else 0.0

    assert run_minute(beat, every_s=every_s, speed=speed, clock=clock, sleep=clock.sleep) == len(begun)
    return begun


@pytest.mark.parametrize("late", [0.0, 0.5, 5.0, 7.9])
def test_ten_second_beats_are_six_a_minute(late: float) -> None:
    """Six beats, two seconds before each period's end, wherever in its first seconds the minute is invoked."""
    assert beats(every_s=10, late=late) == [8, 18, 28, 38, 48, 58]


def test_minute_beat_is_one() -> None:
    """At 60 s it is the beat before the minute's end."""
    assert beats(every_s=60, late=1.5) == [58]


def test_a_late_invocation_leaves_the_next_minute_alone() -> None:
    """Invoked at 9 s, it missed one beat, and leaves that at 68 s to the next invocation, which it would meet."""
    assert beats(every_s=10, late=9.0) == [18, 28, 38, 48, 58]


def test_work_does_not_shift_the_marks() -> None:
    """Beats that take 0.7 s each still begin on their marks: no delay adds up."""
    assert beats(every_s=10, work=(0.7,) * 6) == [8, 18, 28, 38, 48, 58]


def test_overrun_leaves_out_the_missed_mark() -> None:
    """A beat of 13 s, from 18 to 31, misses the mark at 28; the next begins at 38, not late at 31."""
    assert beats(every_s=10, work=(0, 13)) == [8, 18, 38, 48, 58]


def test_overrun_past_the_minute_ends_it() -> None:
    """A beat that runs over the last mark leaves nothing to do."""
    assert beats(every_s=10, work=(0, 45)) == [8, 18]


def test_speed_divides_the_interval() -> None:
    """At speed 60 a stage minute is one wall second, so beats are a sixth of a second apart."""
    begun = beats(every_s=10, speed=60)
    assert begun == pytest.approx([(8 + 10 * index) / 60 for index in range(6)])
