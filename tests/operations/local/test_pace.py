"""A schedule that is faster than the clock starts no more than a laptop can end."""

from headway_ops.local.emulator.pace import Pace


def test_tasks_of_a_schedule_keep_their_distance() -> None:
    """One at 0 s, none at 19.9 s, one at 20 s; another schedule has its own distance."""
    pace = Pace(20.0)
    asked = [("a", 0.0), ("a", 19.9), ("b", 19.9), ("a", 20.0)]
    assert [pace.starts(name, running=0, now=at) for name, at in asked] == [True, False, True, True]


def test_two_that_still_run_let_no_third_begin() -> None:
    """However long ago they began; what was not started does not count as the last."""
    pace = Pace(20.0)
    assert not pace.starts("a", running=2, now=100.0)
    assert pace.starts("a", running=1, now=101.0)
