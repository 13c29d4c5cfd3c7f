"""Task protection, against the ECS developer guide."""

from hypothesis import given
from hypothesis import strategies as st

from headway_ops.loop import Protections


def protect(protections: Protections, task: str, *, desired: int, now: float = 0, minutes: int | None = 60) -> str:
    """Ask for protection among the tasks a, b, c; return the refusal's reason, or an empty string."""
    refusal = protections.protect(task, minutes=minutes, siblings={"a", "b", "c"}, desired=desired, now=now)
    return refusal.reason if refusal else ""


def test_protection_is_refused_once_more_tasks_would_be_protected_than_desired() -> None:
    """The guide: DEPLOYMENT_BLOCKED means more protected tasks than the desired count."""
    protections = Protections()
    assert protect(protections, "a", desired=1) == ""
    assert protect(protections, "b", desired=1) == "DEPLOYMENT_BLOCKED"
    assert not protections.protected("b", 1)
    assert protect(protections, "b", desired=2) == ""


def test_a_protected_task_can_always_renew() -> None:
    """A renewal protects no further task, so a lowered desired count does not refuse it."""
    protections = Protections()
    protect(protections, "a", desired=2)
    protect(protections, "b", desired=2)
    assert protect(protections, "a", desired=1, now=1_800) == ""


def test_protection_lapses_at_its_expiry_and_each_call_starts_it_anew() -> None:
    """UpdateTaskProtection: expiresInMinutes counts from the last call."""
    protections = Protections()
    protect(protections, "a", desired=1, minutes=10)
    assert protections.protected("a", 599)
    assert not protections.protected("a", 600)
    protect(protections, "a", desired=1, minutes=10, now=590)
    assert protections.protected("a", 1_189)


def test_protection_lasts_two_hours_where_no_minutes_are_given() -> None:
    """UpdateTaskProtection: 120 minutes by default."""
    protections = Protections()
    protect(protections, "a", desired=1, minutes=None)
    assert protections.protected("a", 7_199)
    assert not protections.protected("a", 7_200)


def test_minutes_outside_the_apis_range_are_refused() -> None:
    """UpdateTaskProtection: expiresInMinutes is 1..2,880."""
    assert [protect(Protections(), "a", desired=1, minutes=m) for m in (0, 1, 2_880, 2_881)] == [
        "InvalidParameterException",
        "",
        "",
        "InvalidParameterException",
    ]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=30), st.integers(0, 3))
def test_never_more_protected_tasks_than_desired(asks: list[tuple[str, bool]], desired: int) -> None:
    """Whatever tasks ask for and release, a steady desired count is never exceeded by protected tasks."""
    protections = Protections()
    for now, (task, on) in enumerate(asks):
        if on:
            protect(protections, task, desired=desired, now=now)
        else:
            protections.release(task)
        assert sum(protections.protected(sibling, now) for sibling in "abc") <= desired
