"""The rollout switch, as a function."""

import doctest

import pytest

from headway.producer import routing, submit
from headway.producer.routing import Route, choose_lane

_LANES = ("heavy", "fast")


@pytest.mark.parametrize(("fast_queue", "lane"), [("fast", "fast"), (" fast ", "fast"), ("", "heavy"), ("  ", "heavy")])
def test_the_switch_names_the_lane(fast_queue: str, lane: str) -> None:
    """Blank is unset, and no reason to warn."""
    assert choose_lane(fast_queue, main_lane="heavy", lanes=_LANES) == Route(lane=lane)


def test_an_unknown_lane_falls_back_with_a_warning() -> None:
    """Nobody reads a lane that does not exist."""
    route = choose_lane("express", main_lane="heavy", lanes=_LANES)
    assert route.lane == "heavy"
    assert route.warning == "FAST_QUEUE = 'express': no such lane (fast, heavy); sending to heavy"


def test_names_are_made_safe() -> None:
    """As the functions' own examples show."""
    assert doctest.testmod(submit).failed == 0


def test_a_missing_fast_lane_is_aliased() -> None:
    """As the function's own examples show."""
    assert doctest.testmod(routing).failed == 0
