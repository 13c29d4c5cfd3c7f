"""What does a message in Kombu's envelope say? Read without Celery: a dead letter may be anybody's."""

import base64
import binascii
import json
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, kw_only=True)
class Letter:
    """Which task a message was meant for, and the id it was sent with."""

    task: str
    id: UUID


def read_letter(body: str) -> Letter | None:
    """Return what a task's message says; None where it is no task of one id.

    Kombu's SQS transport sends its envelope in base64, and reads it either way (Channel._optional_b64_decode); inside
    it the arguments are in base64 again (Celery manual, "Message Protocol", version 2).
    """
    try:
        envelope = json.loads(_plain(body))
        (sent_with,), _, _ = json.loads(base64.b64decode(envelope["body"]))
        return Letter(task=envelope["headers"]["task"], id=UUID(sent_with))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _plain(body: str) -> bytes:
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return body.encode()
