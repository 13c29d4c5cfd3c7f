"""Charts of a report, drawn by Altair; each carries its own numbers as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair

from headway_ops.report.page import Chart, Table

#: Told apart also in grey and by the most common colour blindness (Okabe and Ito 2008).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999", "#f0e442")
_TABLE_ROWS = 24


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a chart: its name, and its value at each of the chart's times."""

    name: str
    values: Sequence[float]


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
    """Return a chart of values over time; ``limit`` is a dashed line that they should not pass.

    ``stepped`` is for counts, which change at once.
    """
    rows = [
        {"hour": round(hour, 4), "value": round(value, 3), "what": line.name}
        for line in drawn
        for hour, value in zip(hours, line.values, strict=True)
    ]
    names = [line.name for line in drawn]
    base = altair.Chart(_data(rows)).mark_line(interpolate="step-after" if stepped else "linear", strokeWidth=1.6)
    chart: Any = base.encode(
        x=altair.X("hour:Q", title="hours since the start"),
        y=altair.Y("value:Q", title=unit),
        color=altair.Color("what:N", title=None, sort=names, scale=_scale(names), legend=_legend()),
    )
    if limit is not None:
        rule = altair.Chart(_data([{"limit": limit}])).mark_rule(strokeDash=[5, 4]).encode(y="limit:Q")
        chart = altair.layer(chart, rule)
    every = max(1, -(-len(hours) // _TABLE_ROWS))
    table = Table(
        headings=["hour", *(f"{line.name}, {unit}" for line in drawn)],
        rows=[[f"{hours[i]:.2f}", *(f"{line.values[i]:,.1f}" for line in drawn)] for i in range(0, len(hours), every)],
    )
    return Chart(title=title, says=says, spec=_spec(chart), table=table)


def bars(title: str, says: str, values: Mapping[str, float], *, unit: str) -> Chart:
    """Return a chart of one value for each name, in the order given."""
    rows = [{"name": name, "value": round(value, 3)} for name, value in values.items()]
    chart = (
        altair.Chart(_data(rows))
        .mark_bar(color=_COLOURS[0])
        .encode(
            x=altair.X("value:Q", title=unit),
            y=altair.Y("name:N", title=None, sort=list(values)),
        )
    )
    table = Table(headings=["", unit], rows=[[name, f"{value:,.2f}"] for name, value in values.items()])
    return Chart(title=title, says=says, spec=_spec(chart), table=table)


def _data(rows: Sequence[Mapping[str, Any]]) -> altair.Data:
    return altair.Data(values=list(rows))  # type: ignore[no-untyped-call]  # Altair generates it without types


def _scale(names: Sequence[str]) -> altair.Scale:
    return altair.Scale(domain=list(names), range=[_COLOURS[i % len(_COLOURS)] for i in range(len(names))])


def _legend() -> altair.Legend:
    return altair.Legend(orient="top", labelLimit=220)


def _spec(chart: Any) -> dict[str, Any]:
    spec: dict[str, Any] = chart.properties(width="container", height=240).configure_view(strokeWidth=0).to_dict()
    del spec["$schema"]  # an address, which nothing needs: the page says what the specification is
    return spec
