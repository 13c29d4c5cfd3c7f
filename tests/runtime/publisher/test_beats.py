"""The beats of a minute: on their marks, without drift, and never two in one period."""

import pytest

from headway.publisher.beats import run_minute
from tests.runtime.publisher.fakes import Clock


def beats(*, every_s: int, speed: float = 1.0, work: tuple[float, ...] = ()) -> tuple[list[float], Clock]:
    """Run a minute whose n-th beat works ``work[n]`` wall seconds; return when each began, and the clock."""
    clock, begun = Clock(), list[float]()

    def beat() -> None:
        begun.append(clock.now - 1_000.0)
        clock.now += work[len(begun) - 1] if len(begun) <= len(work) else 0.0

    run_minute(beat, every_s=every_s, speed=speed, clock=clock, sleep=clock.sleep)
    return begun, clock


def test_ten_second_beats_are_six_a_minute() -> None:
    """Six beats, at 0, 10, .. 50 s; the function is back before the next minute's invocation."""
    begun, clock = beats(every_s=10)
    assert begun == [0, 10, 20, 30, 40, 50]
    assert clock.now < 1_060


def test_minute_beat_is_one_and_waits_for_nothing() -> None:
    """At 60 s the invocation is the beat."""
    assert beats(every_s=60)[0] == [0]


def test_work_does_not_shift_the_marks() -> None:
    """Beats that take 0.7 s each still begin on their marks: no delay adds up."""
    assert beats(every_s=10, work=(0.7,) * 6)[0] == pytest.approx([0, 10, 20, 30, 40, 50])


def test_overrun_leaves_out_the_missed_mark() -> None:
    """A beat of 13 s, from 10 to 23, misses the mark at 20; the next begins at 30, not late at 23."""
    assert beats(every_s=10, work=(0, 13))[0] == [0, 10, 30, 40, 50]


def test_overrun_past_the_minute_ends_it() -> None:
    """A last beat that runs over leaves nothing to do."""
    assert beats(every_s=10, work=(0, 45))[0] == [0, 10]


def test_speed_divides_the_interval() -> None:
    """At speed 60 a stage minute is one wall second, so beats are a sixth of a second apart."""
    begun, clock = beats(every_s=10, speed=60)
    assert begun == pytest.approx([index / 6 for index in range(6)])
    assert clock.now < 1_001


def test_calls_are_counted() -> None:
    """The number of beats that ran is returned."""
    clock = Clock()
    assert run_minute(lambda: None, every_s=20, speed=1, clock=clock, sleep=clock.sleep) == 3
