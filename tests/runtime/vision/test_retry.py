"""When a call is tried again: arithmetic on what the server said."""

import math
from datetime import UTC, datetime

import pytest

from headway.vision.retry import full_jitter_s, retry_after_s, wait_before_retry

_NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        ("7", 7.0),
        (" 7 ", 7.0),
        ("86400", 300.0),
        ("9" * 400, 300.0),
        ("Tue, 01 Jan 2030 00:01:30 GMT", 90.0),
        ("Mon, 31 Dec 2029 23:00:00 GMT", 0.0),
        ("Wed, 02 Jan 2030 00:00:00 GMT", 300.0),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    """RFC 9110, 10.2.3; capped at five minutes, and nothing for what is neither."""
    assert retry_after_s(header, now=_NOW) == seconds


def test_full_jitter_doubles_its_bound_up_to_a_minute() -> None:
    """The wait is anything from zero to the bound."""
    assert [full_jitter_s(failures, math.nextafter(1.0, 0.0)) for failures in (1, 2, 3, 7, 500)] == pytest.approx(
        [1.0, 2.0, 4.0, 60.0, 60.0]
    )
    assert full_jitter_s(3, 0.0) == 0.0


def test_patience_ends() -> None:
    """A wait that would outlast it is not begun."""
    fixed = {"failures": 1, "asked_s": 30.0, "patience_s": 100.0, "draw": 0.5}
    assert wait_before_retry(**fixed, elapsed_s=70.0) == 30.0  # type: ignore[arg-type]  # one int among floats
    assert wait_before_retry(**fixed, elapsed_s=70.1) is None  # type: ignore[arg-type]  # one int among floats


def test_zero_means_now() -> None:
    """A server that says 0 is believed, not backed off from."""
    assert wait_before_retry(failures=5, asked_s=0.0, elapsed_s=0.0, patience_s=1.0, draw=0.9) == 0.0
