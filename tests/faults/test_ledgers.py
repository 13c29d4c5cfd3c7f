"""The counts can be other than zero: each finds what it looks for, and excuses what it should."""

import itertools

from tests.faults.fleet import Hit
from tests.faults.ledgers import Asked, called_twice, more_than_once, started_unprotected
from tests.faults.schedule import Kind, faults


def _asked(step: str, started: float, *, task: str = "heavy-1", outcome: str = "answered") -> Asked:
    return Asked(step=step, task=task, started=started, ended=started + 1, outcome=outcome)


def test_a_second_answer_is_found() -> None:
    """Of three steps one was answered twice, and nothing had happened."""
    asked = [_asked("a", 1), _asked("b", 1), _asked("c", 1), _asked("b", 5), _asked("c", 6, outcome="abandoned")]
    assert called_twice(asked, [], []) == 1


def test_only_a_hit_on_the_first_answers_task_excuses_the_second() -> None:
    """In time and on that task; or an outage of the job store between the two."""
    asked = [_asked("a", 1), _asked("a", 5, task="heavy-2")]
    assert called_twice(asked, [Hit(at=1.5, task="heavy-1")], []) == 0
    assert called_twice(asked, [Hit(at=1.5, task="heavy-2")], []) == 1
    assert called_twice(asked, [Hit(at=0.5, task="heavy-1"), Hit(at=5.5, task="heavy-1")], []) == 1
    assert called_twice(asked, [], [(2.0, 3.0)]) == 0
    assert called_twice(asked, [], [(6.0, 7.0)]) == 1


def test_every_further_answer_needs_its_own_excuse() -> None:
    """Three answers, one kill."""
    asked = [_asked("a", 1), _asked("a", 5), _asked("a", 9)]
    assert called_twice(asked, [Hit(at=1.5, task="heavy-1")], []) == 1


def test_a_call_outside_every_grant_is_unprotected() -> None:
    """Granted at 10 for a minute of 2 s, renewed at 11, released at 12.5, granted again at 20 and left to expire."""
    granted = [(10.0, "heavy-1", 1), (11.0, "heavy-1", 1), (12.5, "heavy-1", 0), (20.0, "heavy-1", 1)]

    def unprotected(*started: float, task: str = "heavy-1") -> int:
        asked = [_asked(str(at), at, task=task) for at in started]
        return started_unprotected(asked, granted, minute_s=2.0, lane="heavy")

    assert unprotected(10.5, 12.4, 21.9) == 0
    assert unprotected(9.9, 12.6, 19.9, 22.1) == 4
    assert unprotected(10.5, task="heavy-2") == 1
    assert unprotected(9.9, task="fast-1") == 0


def test_what_comes_twice_is_counted_once() -> None:
    """However often it comes."""
    assert more_than_once(["a", "b", "a", "a", "c", "c"]) == 2


def test_a_seed_brings_the_same_faults() -> None:
    """Each kind once before any comes again, and time goes forward."""
    first, again = faults(7), faults(7)
    some = [next(first) for _ in range(50)]
    assert some == [next(again) for _ in range(50)]
    assert {fault.kind for fault in some[: len(Kind)]} == set(Kind)
    assert all(fault.at_s < later.at_s for fault, later in itertools.pairwise(some))
