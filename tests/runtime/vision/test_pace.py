"""A process's pace, on numbers for times."""

import doctest

from hypothesis import given
from hypothesis import strategies as st

from headway.vision import pace
from headway.vision.pace import Pace


def test_the_examples_hold() -> None:
    """As the functions show them."""
    assert doctest.testmod(pace).failed == 0


def test_refusals_halve_down_to_one_and_answers_climb_by_one() -> None:
    """32, 16, 8, 4, 2, 1, 1; then one more for each answer, never above the start."""
    now, limits = 0.0, list[int]()
    slowed = Pace.full(32)
    for _ in range(7):
        limits.append(slowed.limit)
        now += 10.0
        slowed = slowed.refused(sent_at=now - 1.0, now=now)
    assert limits == [32, 16, 8, 4, 2, 1, 1]
    for expected in [*range(2, 33), 32, 32]:
        slowed = slowed.answered()
        assert slowed.limit == expected


def test_requests_that_were_sent_together_are_one_refusal() -> None:
    """Eight requests of second 1 are refused in seconds 2 to 9: one cut. One that was sent after it is another."""
    slowed = Pace.full(8)
    for now in range(2, 10):
        slowed = slowed.refused(sent_at=1.0, now=float(now))
    assert slowed.limit == 4
    assert slowed.refused(sent_at=2.5, now=11.0).limit == 2


@given(most=st.integers(1, 64), events=st.lists(st.tuples(st.booleans(), st.floats(0, 5)), max_size=60))
def test_a_pace_stays_between_one_and_its_most(most: int, events: list[tuple[bool, float]]) -> None:
    """Whatever comes: a process never stops for good, and never exceeds what it was given."""
    slowed, now = Pace.full(most), 0.0
    for refused, took_s in events:
        now += 1.0
        slowed = slowed.refused(sent_at=now - took_s, now=now) if refused else slowed.answered()
        assert 1 <= slowed.limit <= most
