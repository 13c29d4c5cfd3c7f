"""The protection policy, on a clock that the test moves. Times are stage seconds."""

import doctest

from headway.worker import protection
from headway.worker.protection import LINGER_S, Action, Admission, Protection

_LIFE_S = 1_800.0


def _busy() -> Protection:
    return Protection(life_s=_LIFE_S).seen(0.0, busy=1)


def test_work_waits_until_the_agent_has_answered() -> None:
    """Unprotected and busy: ask, and start nothing meanwhile."""
    assert _busy().admission(0.0) is Admission.WAIT
    assert _busy().action(0.0) is Action.ACQUIRE


def test_granted_protection_admits_until_it_lapses() -> None:
    """It holds for its life, to the second."""
    granted = _busy().granted(10.0)
    assert granted.admission(10.0) is Admission.START
    assert granted.admission(10.0 + _LIFE_S - 1) is Admission.START
    assert granted.admission(10.0 + _LIFE_S) is Admission.WAIT


def test_protection_is_renewed_at_half_its_life() -> None:
    """Nothing is due before."""
    granted = _busy().granted(0.0)
    assert granted.action(_LIFE_S / 2 - 1) is Action.WAIT
    assert granted.action(_LIFE_S / 2) is Action.RENEW


def test_a_failed_renewal_keeps_what_holds_and_is_tried_again() -> None:
    """The protection that was granted lasts its life; the next try comes well before its end."""
    failed = _busy().granted(0.0).refused(_LIFE_S / 2)
    assert failed.admission(_LIFE_S / 2) is Admission.START
    assert failed.action(_LIFE_S / 2) is Action.WAIT
    assert failed.action(_LIFE_S * 0.6) is Action.RENEW


def test_a_refusal_sends_work_back_and_pauses_longer_each_time() -> None:
    """5 s, then 10 s, then 20 s, never above 120 s; after the pause the agent is asked again."""
    now, pauses, state = 0.0, [], _busy()
    for _ in range(7):
        state = state.refused(now)
        assert state.admission(now) is Admission.HAND_BACK
        assert state.action(now) is Action.WAIT
        pauses.append(state.refused_until - now)
        now = state.refused_until
        assert state.admission(now) is Admission.WAIT
        assert state.action(now) is Action.ACQUIRE
    assert pauses == [5.0, 10.0, 20.0, 40.0, 80.0, 120.0, 120.0]


def test_a_grant_forgets_refusals() -> None:
    """The next refusal pauses as the first one did."""
    lapsed = _busy().refused(0.0).refused(5.0).granted(15.0).refused(15.0 + _LIFE_S)
    assert lapsed.refused_until == 15.0 + _LIFE_S + 5.0


def test_the_last_message_releases_after_a_linger() -> None:
    """One of two slots that ends releases nothing; none left releases once the linger is over."""
    granted = _busy().granted(0.0)
    assert granted.seen(100.0, busy=1).action(100.0 + LINGER_S) is Action.WAIT
    idle = granted.seen(100.0, busy=0)
    assert idle.action(100.0 + LINGER_S - 1) is Action.WAIT
    assert idle.seen(110.0, busy=0).action(100.0 + LINGER_S) is Action.RELEASE
    assert idle.seen(110.0, busy=1).action(100.0 + LINGER_S) is Action.WAIT


def test_nothing_starts_while_a_release_is_under_way() -> None:
    """The protection is forgotten before the agent is asked to end it."""
    releasing = _busy().granted(0.0).seen(100.0, busy=0).releasing(115.0)
    assert releasing.admission(115.0) is Admission.WAIT
    assert releasing.action(115.0) is Action.WAIT
    assert releasing.seen(116.0, busy=1).action(116.0) is Action.ACQUIRE


def test_a_release_that_failed_is_tried_again() -> None:
    """An idle task must not keep its protection for the rest of its life; once it is released, nothing is owed."""
    releasing = _busy().granted(0.0).seen(100.0, busy=0).releasing(115.0)
    assert releasing.action(144.0) is Action.WAIT
    assert releasing.action(145.0) is Action.RELEASE
    assert releasing.released().action(1_000.0) is Action.WAIT


def test_a_task_receives_nothing_before_it_was_granted_protection() -> None:
    """A new task asks without a message; granted and released, it polls unprotected and asks for nothing."""
    new = Protection(life_s=_LIFE_S).seen(0.0, busy=0)
    assert not new.may_receive(0.0)
    assert new.action(0.0) is Action.ACQUIRE
    released = new.granted(1.0).releasing(1.0 + protection.LINGER_S).released()
    assert released.may_receive(1_000.0)
    assert released.action(1_000.0) is Action.WAIT


def test_a_refused_task_asks_again_without_a_message() -> None:
    """Paused until it is granted: what it received in between would be counted towards the dead-letter queue."""
    refused = _busy().granted(0.0).releasing(15.0).released().refused(20.0).seen(20.0, busy=0)
    assert refused.action(24.9) is Action.WAIT
    assert refused.action(25.0) is Action.ACQUIRE
    assert not refused.may_receive(1_000.0)
    assert refused.granted(1_000.0).may_receive(1_000.0)


def test_refusals_do_not_use_a_messages_receives_up() -> None:
    """The first one sends it back at once; five in a row take more than three minutes."""
    assert doctest.testmod(protection).failed == 0
    assert sum(protection.away_s(receives) for receives in range(1, 5)) > 180
