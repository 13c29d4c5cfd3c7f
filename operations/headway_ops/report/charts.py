"""Charts of a report as values; each carries its own numbers as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_TABLE_ROWS = 24


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of text under headings that name their units."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a chart: its name, and its value at each of the chart's times."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Values over hours; ``limit`` is a dashed line. ``stepped`` is for counts, which change at once."""

    hours: Sequence[float]
    lines: Sequence[Line]
    unit: str
    limit: float | None = None
    stepped: bool = False


@dataclass(frozen=True, kw_only=True)
class Bars:
    """One value for each name, in the order given."""

    values: Mapping[str, float]
    unit: str


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A chart: its title, what it shows in one sentence, what is drawn, and its numbers."""

    title: str
    says: str
    plot: Lines | Bars
    table: Table


def lines(
    title: str,
    says: str,
    hours: Sequence[float],
    drawn: Sequence[Line],
    *,
    unit: str,
    limit: float | None = None,
    stepped: bool = False,
) -> Chart:
    """Return a chart of values over time, and a table of some two dozen of its points."""
    every = max(1, -(-len(hours) // _TABLE_ROWS))
    table = Table(
        headings=["hour", *(f"{line.name}, {unit}" for line in drawn)],
        rows=[[f"{hours[i]:.2f}", *(f"{line.values[i]:,.1f}" for line in drawn)] for i in range(0, len(hours), every)],
    )
    plot = Lines(hours=hours, lines=drawn, unit=unit, limit=limit, stepped=stepped)
    return Chart(title=title, says=says, plot=plot, table=table)


def bars(title: str, says: str, values: Mapping[str, float], *, unit: str) -> Chart:
    """Return a chart of one value for each name."""
    table = Table(headings=["", unit], rows=[[name, f"{value:,.2f}"] for name, value in values.items()])
    return Chart(title=title, says=says, plot=Bars(values=values, unit=unit), table=table)
