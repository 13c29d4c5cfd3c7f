"""A page as a value, and as HTML: readable on a phone, on paper, and without scripts by its tables."""

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from headway_ops.report.charts import Chart, Table


@dataclass(frozen=True, kw_only=True)
class Page:
    """A report: its verdict is one paragraph; ``summary`` is its figures, and charts follow."""

    title: str
    verdict: str
    summary: Table
    charts: Sequence[Chart]

    def html(self) -> str:
        """Return the page with its styles, scripts and data in it; the charts' library is there once."""
        # Altair takes most of a second to import: what writes no page does not wait for it.
        from headway_ops.report.drawing import library, specification

        template = Template((files("headway_ops.report") / "page.html").read_text(encoding="utf-8"))
        return template.substitute(
            title=html.escape(self.title),
            verdict=html.escape(self.verdict),
            summary=_table(self.summary),
            charts="\n".join(_section(number, chart) for number, chart in enumerate(self.charts)),
            library=library(),
            # A script ends at the first "</", also inside a text.
            specs=json.dumps([specification(chart) for chart in self.charts]).replace("</", "<\\/"),
        )

    def write(self, path: Path) -> None:
        """Write the page, and the folder it goes to."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.html(), encoding="utf-8")


def _section(number: int, chart: Chart) -> str:
    return (
        f"<section><h2>{html.escape(chart.title)}</h2><p>{html.escape(chart.says)}</p>"
        f'<div class="chart" id="chart-{number}" role="img" aria-label="{html.escape(chart.title)}"></div>'
        f"<details><summary>The numbers</summary>{_table(chart.table)}</details></section>"
    )


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{html.escape(heading)}</th>' for heading in table.headings)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
