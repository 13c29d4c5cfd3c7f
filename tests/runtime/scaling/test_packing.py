"""Who leaves a message to others, so that work packs."""

import doctest
import math

from hypothesis import given
from hypothesis import strategies as st

from headway.scaling import packing
from headway.scaling.packing import lazy

counts = st.integers(0, 64)
seconds = st.floats(0, math.inf)


def test_the_examples_hold() -> None:
    """Few messages or none for long make a worker lazy, and neither does where laziness is off."""
    assert doctest.testmod(packing).failed == 0


@given(counts, counts, seconds, seconds, st.integers(1, 64), st.floats(1, 1e6))
def test_who_holds_more_and_newer_is_never_lazier(
    held: int, more: int, quiet_s: float, longer_s: float, below: int, after_s: float
) -> None:
    """Else messages would go to a task that is nearer to being empty."""
    if lazy(held + more, quiet_s, below=below, after_s=after_s):
        assert lazy(held, quiet_s + longer_s, below=below, after_s=after_s)


@given(seconds, st.integers(1, 64), st.floats(1, 1e6))
def test_who_holds_nothing_is_lazy(quiet_s: float, below: int, after_s: float) -> None:
    """An open long poll cannot be called back when the fleet is counted."""
    assert lazy(0, quiet_s, below=below, after_s=after_s)
