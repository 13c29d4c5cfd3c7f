"""Charts as Vega-Lite specifications, by Altair, and the library that draws them."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair
import vl_convert

from headway_ops.report.charts import Bars, Chart, Lines

#: Told apart also in grey and by the most common colour blindness (Okabe and Ito 2008).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999", "#f0e442")


def library() -> str:
    """Return the script that draws specifications, with everything that it needs."""
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def specification(chart: Chart) -> dict[str, Any]:
    """Return a chart's specification, as wide as the page has room."""
    drawn = _lines(chart.plot) if isinstance(chart.plot, Lines) else _bars(chart.plot)
    spec: dict[str, Any] = drawn.properties(width="container", height=240).configure_view(strokeWidth=0).to_dict()
    del spec["$schema"]  # an address, which nothing needs: the page says what the specification is
    return spec


def _lines(plot: Lines) -> Any:
    rows = [
        {"hour": round(hour, 4), "value": round(value, 3), "what": line.name}
        for line in plot.lines
        for hour, value in zip(plot.hours, line.values, strict=True)
    ]
    names = [line.name for line in plot.lines]
    colours = altair.Scale(domain=names, range=[_COLOURS[i % len(_COLOURS)] for i in range(len(names))])
    chart: Any = (
        altair.Chart(_data(rows))
        .mark_line(interpolate="step-after" if plot.stepped else "linear", strokeWidth=1.6)
        .encode(
            x=altair.X("hour:Q", title="hours since the start"),
            y=altair.Y("value:Q", title=plot.unit),
            color=altair.Color(
                "what:N", title=None, sort=names, scale=colours, legend=altair.Legend(orient="top", labelLimit=220)
            ),
        )
    )
    if plot.limit is None:
        return chart
    rule = altair.Chart(_data([{"limit": plot.limit}])).mark_rule(strokeDash=[5, 4]).encode(y="limit:Q")
    return altair.layer(chart, rule)


def _bars(plot: Bars) -> Any:
    rows = [{"name": name, "value": round(value, 3)} for name, value in plot.values.items()]
    return (
        altair.Chart(_data(rows))
        .mark_bar(color=_COLOURS[0])
        .encode(x=altair.X("value:Q", title=plot.unit), y=altair.Y("name:N", title=None, sort=list(plot.values)))
    )


def _data(rows: Sequence[Mapping[str, Any]]) -> altair.Data:
    return altair.Data(values=list(rows))  # type: ignore[no-untyped-call]  # Altair generates it without types
