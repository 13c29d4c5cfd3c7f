"""A setting that cannot be used, as a value."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One setting that cannot be used: what it is, the bound it breaks, and what to set instead."""

    field: str
    value: Any
    bound: str
    fix: str


def within(field: str, value: float, low: float, high: float, why: str = "") -> Iterator[Problem]:
    """Yield a problem where ``value`` is not in [low, high]."""
    if not low <= value <= high:
        bound = f"must be {low:,}..{high:,}".replace(",", "_") + (f" ({why})" if why else "")
        yield Problem(field=field, value=value, bound=bound, fix=f"set {low if value < low else high}")
