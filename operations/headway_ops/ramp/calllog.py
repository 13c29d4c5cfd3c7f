"""The per-call log: metric lines of the workers, as files hold them and as CloudWatch Logs exports them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class CallLogError(ValueError):
    """A log that cannot be used; the message is one line."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One model call: seconds from sent to answered, 429s on the way, and calls in flight in its process with it."""

    latency_s: float
    rate_limited: int
    in_flight: int


def read_calls(path: Path) -> list[Call]:
    """Return the calls of a log: lines of JSON behind any prefix, or a JSON export of log events.

    Raises:
        CallLogError: there is no such file, it is no text, or no call is in it.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise CallLogError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CallLogError(f"{path}: not UTF-8 text") from None
    calls = [call for line in _messages(text) if (call := _call(line))]
    if not calls:
        raise CallLogError(f"{path.name}: no call in it; a line of the per-call log has CallLatency")
    return calls


def _messages(text: str) -> Iterator[str]:
    """Yield each message: those of ``aws logs filter-log-events``'s document, or the lines."""
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    if isinstance(document, dict) and isinstance(document.get("events"), list):
        yield from (str(event.get("message", "")) for event in document["events"] if isinstance(event, dict))
    else:
        yield from text.splitlines()


def _call(line: str) -> Call | None:
    try:
        values = json.loads(line[line.index("{") :])
        latency_s = _number(values, "CallLatency")
        if latency_s <= 0:
            return None
        return Call(
            latency_s=latency_s,
            rate_limited=int(_number(values, "CallsRateLimited", 0)),
            in_flight=int(_number(values, "CallsInFlightAtStart", 1)),
        )
    except (ValueError, KeyError, TypeError, IndexError):
        return None  # a log holds other lines too


def _number(values: Mapping[str, Any], name: str, default: float | None = None) -> float:
    """Return a metric's value; the embedded format holds it as a number or as a list of one."""
    value = values[name] if default is None else values.get(name, default)
    return float(value[0] if isinstance(value, list) else value)
