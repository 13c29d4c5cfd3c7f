"""The publisher and idle tasks take turns on one clock."""

import doctest

from hypothesis import given
from hypothesis import strategies as st

from headway.scaling import turns
from headway.scaling.turns import ANSWER_S, READ_LEAD_S, SETTLE_S, hush_left_s, next_reading

times = st.floats(0, 2e9)
intervals = st.sampled_from((10, 60))


def test_the_examples_hold() -> None:
    """At 10 s the hush is from 7 to 12."""
    assert doctest.testmod(turns).failed == 0


@given(times, intervals)
def test_a_reading_is_the_next_one_before_a_period_ends(now: float, every_s: int) -> None:
    """It is later than now, by no more than an interval, and two seconds before a multiple of the interval."""
    mark = next_reading(now, every_s)
    assert now < mark <= now + every_s
    assert (mark + READ_LEAD_S) % every_s == 0


@given(times, intervals, st.floats(-ANSWER_S, READ_LEAD_S + SETTLE_S, exclude_max=True))
def test_nothing_idle_begins_between_a_reading_and_what_acts_on_it(now: float, every_s: int, apart: float) -> None:
    """From what is answered by the reading to the alarm's evaluation, the hush lasts; it is over right after."""
    mark = next_reading(now, every_s)
    if mark - ANSWER_S <= mark + apart < mark + READ_LEAD_S + SETTLE_S:
        assert hush_left_s(mark + apart, every_s) > 0
    assert hush_left_s(mark + READ_LEAD_S + SETTLE_S, every_s) == 0
    assert hush_left_s(mark - ANSWER_S - 1, every_s) == 0


@given(times, intervals)
def test_what_waits_out_the_hush_may_begin(now: float, every_s: int) -> None:
    """Its end is where it said it would be, to a clock's own fineness."""
    left_s = hush_left_s(now, every_s)
    assert 0 <= left_s <= ANSWER_S + READ_LEAD_S + SETTLE_S
    assert hush_left_s(now + left_s + 1e-6, every_s) == 0
