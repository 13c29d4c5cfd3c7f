"""What does a failed poll mean, and when is the lane polled again? Pure: a response's parts go in."""

import json
from dataclasses import dataclass

#: Error codes that no waiting mends (SQS API reference, Common errors; ReceiveMessage). Everything else may pass:
#: throttling, expired credentials that are being renewed, a server that is down.
_FATAL = frozenset({"AccessDenied", "AccessDeniedException", "InvalidAddress", "InvalidSecurity", "KmsAccessDenied"})
_MISSING = frozenset({"QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"})
_FIRST_S = 0.5
_CAP_S = 5.0


@dataclass(frozen=True, kw_only=True)
class PollFailure:
    """A poll that brought no answer; ``fatal`` where polling again cannot help."""

    reason: str
    fatal: bool = False


def failure(status: int, body: bytes, error: str = "") -> PollFailure:
    """Return what an answer other than 200 means. Status 599 is Kombu's word for "no answer", with curl's ``error``."""
    code = error_code(body)
    if code in _FATAL or code in _MISSING:
        return PollFailure(reason=code, fatal=True)
    return PollFailure(reason=code or error or f"HTTP {status}")


def error_code(body: bytes) -> str:
    """Return the code of an AWS JSON 1.0 error (``__type``, behind its namespace), or nothing."""
    try:
        document = json.loads(body or b"{}")
    except ValueError:
        return ""
    kind = document.get("__type") if isinstance(document, dict) else None
    return kind.rpartition("#")[2] if isinstance(kind, str) else ""


def poll_again_after_s(failures: int, draw: float) -> float:
    """Return wall seconds until the next poll, after so many failures in a row (from 1); ``draw`` in [0, 1).

    Never longer than 5 s, so that a lane is polled again soon after its endpoint is back; jittered by half.
    """
    bound = min(_FIRST_S * 2.0 ** min(failures - 1, 8), _CAP_S)
    return bound * (0.5 + draw / 2)
