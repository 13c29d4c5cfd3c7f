"""Is this a message that Celery can take in? Asked of every message, because one that breaks its consumer stays."""

from typing import Any

from kombu.exceptions import ContentDisallowed

_ACCEPTED = frozenset({"application/json"})
#: Celery manual, "Message Protocol", version 2: (args, kwargs, embed).
_BODY_PARTS = 3


class PoisonError(ValueError):
    """The message can never run; the message is one line."""


def check(message: Any) -> None:
    """Decode a Kombu message's body, JSON only, and check its shape where it names a task.

    Raises:
        PoisonError: it cannot be decoded, or is no task's body.
    """
    message.accept = _ACCEPTED
    try:
        body = message.decode()
    except ContentDisallowed as error:
        raise PoisonError(f"content not accepted: {error}") from None
    except Exception as error:  # whatever a stranger's bytes break
        raise PoisonError(f"no Celery message: {error!r}") from None
    if "task" in message.headers and not (isinstance(body, list) and len(body) == _BODY_PARTS):
        raise PoisonError("no Celery message: its body is not (args, kwargs, embed)")
