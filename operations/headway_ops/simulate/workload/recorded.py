"""A team's own day: when its jobs came, from a CSV file, and how long its calls took, from the per-call log."""

import csv
import math
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from headway_ops.ramp import CallLogError, read_calls
from headway_ops.simulate.workload.errors import WorkloadError


def arrivals(path: Path) -> tuple[float, ...]:
    """Return the times of a CSV file's first column, in seconds after the first: numbers, or ISO 8601 with a zone.

    Raises:
        WorkloadError: there is no such file, no time in it, or a time that is none or is before the last.
    """
    rows = [(number, row[0].strip()) for number, row in enumerate(_rows(path), start=1) if row and row[0].strip()]
    if rows and rows[0][0] == 1 and _second(rows[0][1]) is None:
        del rows[0]  # a heading
    times = []
    for number, text in rows:
        second = _second(text)
        if second is None:
            raise WorkloadError(f"{path.name}: line {number}: {text!r}: must be seconds, or ISO 8601 with a zone")
        times.append(second)
    if not times:
        raise WorkloadError(f"{path.name}: no arrival in it; one time a line")
    for (number, _), (before, after) in zip(rows[1:], pairwise(times), strict=True):
        if after < before:
            raise WorkloadError(f"{path.name}: line {number}: is before the line above it; sort the times")
    return tuple(time - times[0] for time in times)


def durations(path: Path) -> tuple[float, ...]:
    """Return the latencies of the calls of a log of metric lines, in seconds; other lines are passed over.

    Raises:
        WorkloadError: there is no such file, or no call in it.
    """
    try:
        return tuple(call.latency_s for call in read_calls(path))
    except CallLogError as error:
        raise WorkloadError(str(error)) from None


def _second(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        pass
    else:
        return value if math.isfinite(value) else None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo else None


def _rows(path: Path) -> list[list[str]]:
    try:
        return list(csv.reader(_text(path).splitlines()))
    except csv.Error as error:
        raise WorkloadError(f"{path.name}: not CSV: {error}") from None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise WorkloadError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise WorkloadError(f"{path}: not UTF-8 text") from None
