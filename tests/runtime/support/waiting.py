"""Waits for a condition, not for time."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(found: Callable[[], T], *, within_s: float = 30.0, what: str = "condition") -> T:
    """Return what ``found`` returns once it is true.

    Raises:
        AssertionError: it is not within so many seconds.
    """
    deadline = time.monotonic() + within_s
    while not (value := found()):
        assert time.monotonic() < deadline, f"{what}: not within {within_s} s"
        time.sleep(0.02)
    return value
