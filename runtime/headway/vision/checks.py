"""What is asked about a block, and how is the answer read? Others register under ``headway.checks``."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


class UnreadableError(ValueError):
    """The model answered something else than it was asked for; the message is one line."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One question about one block; ``read`` turns the answer's text into a result or raises UnreadableError."""

    name: str
    prompt: str
    read: Callable[[str], Mapping[str, Any]]


def read_count(text: str) -> Mapping[str, Any]:
    """Read ``{"count": n}``, n a whole number from 0, and nothing else.

    Raises:
        UnreadableError: the text is empty, no JSON, or not of that shape.
    """
    if not text.strip():
        raise UnreadableError("the model's answer is empty")
    try:
        value = json.loads(text)
    except ValueError:
        raise UnreadableError(f"the model's answer is not JSON: {text[:80]!r}") from None
    count = value.get("count") if isinstance(value, dict) and len(value) == 1 else None
    if type(count) is not int or count < 0:  # a bool is an int too
        raise UnreadableError(f'the model\'s answer is not {{"count": n}}: {text[:80]!r}')
    return {"count": count}


BARS = Check(
    name="bars",
    prompt='Count the bars in this block: discs filled with black. Answer with JSON only: {"count": n}',
    read=read_count,
)

OPENINGS = Check(
    name="openings",
    prompt='Count the openings in this block: squares that are hollow. Answer with JSON only: {"count": n}',
    read=read_count,
)
