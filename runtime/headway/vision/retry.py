"""When is a refused or failed call tried again? Pure: what the server said and how long it has lasted go in."""

import email.utils
from datetime import UTC, datetime

#: The longest wait that a server may ask for, stage seconds; anything longer is a mistake or an attack.
RETRY_AFTER_CAP_S = 300.0
_BASE_S = 1.0
_CAP_S = 60.0


def retry_after_s(header: str | None, *, now: datetime) -> float | None:
    """Return the seconds a Retry-After header asks for, 0..300; None where it is absent or says nothing usable.

    RFC 9110, 10.2.3: delay seconds, or an HTTP date.
    """
    text = (header or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text), RETRY_AFTER_CAP_S)
    try:
        at = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return min(max((at - now).total_seconds(), 0.0), RETRY_AFTER_CAP_S)


def full_jitter_s(failures: int, draw: float) -> float:
    """Return a wait after so many failures in a row (from 1); ``draw`` is uniform in [0, 1).

    "Full jitter": anything up to an exponential bound, so that many callers spread out (AWS Architecture Blog,
    Exponential Backoff and Jitter).
    """
    bound = min(_BASE_S * 2.0 ** min(failures - 1, 16), _CAP_S)
    return draw * bound


def wait_before_retry(
    *, failures: int, asked_s: float | None, elapsed_s: float, patience_s: float, draw: float
) -> float | None:
    """Return how long to wait before the next try, or None to give up: it would outlast ``patience_s``."""
    wait_s = full_jitter_s(failures, draw) if asked_s is None else asked_s
    return wait_s if elapsed_s + wait_s <= patience_s else None
