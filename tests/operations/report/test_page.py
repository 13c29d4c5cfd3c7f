"""A report is one file that needs nothing else."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

from headway_ops.report import Line, Page, Table, bars, lines
from headway_ops.report.drawing import library

PAGE = Page(
    title="prod & <friends>",
    verdict="It kept up.",
    summary=Table(headings=["policy", "wait, s"], rows=[["</script>", "1"]]),
    charts=[
        lines(
            "Tasks", "What ran.", [0.0, 0.5, 1.0], [Line(name="run</script>", values=[1, 2, 3])], unit="tasks", limit=5
        ),
        bars("Costs", "By policy.", {"ours": 1.5, "theirs": 2.0}, unit="dollars"),
    ],
)


class Addresses(HTMLParser):
    """Collects every address that a browser would ask for."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag refers to."""
        self.found += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href", "srcset", "action", "data")]


def test_nothing_is_loaded_from_anywhere() -> None:
    """No tag of the page refers to another file, and its style imports none."""
    text = PAGE.html()
    addresses = Addresses()
    addresses.feed(text)
    assert addresses.found == []
    assert "@import" not in text.partition("</style>")[0]


def test_the_library_is_there_once() -> None:
    """A page with two charts carries the charts' library one time."""
    assert PAGE.html().count(library()) == 1


def test_a_text_cannot_end_the_script_or_become_a_tag() -> None:
    """Names are escaped as text, and inside the data no script can end: two scripts begin and two end."""
    text = PAGE.html().replace(library(), "")
    assert (text.count("<script>"), text.count("</script>")) == (2, 2)
    assert "prod &amp; &lt;friends&gt;" in text


def test_every_chart_has_title_unit_and_numbers() -> None:
    """The specification names its axes with units, and the table behind it holds the same values."""
    text = PAGE.html()
    specs = json.loads(re.search(r"const specs = (.*);\n", text).group(1))  # type: ignore[union-attr]  # it is there
    layers = specs[0]["layer"]
    assert layers[0]["encoding"]["y"]["title"] == "tasks"
    assert layers[0]["encoding"]["x"]["title"] == "hours since the start"
    assert specs[1]["encoding"]["x"]["title"] == "dollars"
    assert PAGE.charts[0].table.rows == [["0.00", "1.0"], ["0.50", "2.0"], ["1.00", "3.0"]]
    assert "<h2>Tasks</h2><p>What ran.</p>" in text
    assert "<td>theirs</td><td>2.00</td>" in text


def test_it_fits_a_phone_and_paper(tmp_path: Path) -> None:
    """It says how wide a phone is, charts take the width there is, and printing opens every table."""
    PAGE.write(tmp_path / "new" / "report.html")
    text = (tmp_path / "new" / "report.html").read_text(encoding="utf-8")
    assert 'name="viewport" content="width=device-width' in text
    assert '"width": "container"' in text
    assert "@media print" in text
    assert "beforeprint" in text
