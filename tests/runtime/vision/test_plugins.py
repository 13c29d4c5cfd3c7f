"""Plugins as another package brings them: entry points in its metadata, beside the shipped ones."""

from pathlib import Path

import pytest

from headway.vision.checks import BARS, OPENINGS
from headway.vision.plugins import PluginError, load_checks, load_splitter

MODULE = """
import dataclasses
from headway.vision.checks import BARS

DOORS = dataclasses.replace(BARS, name="doors")
NUMBER = 7

def halves(pages):
    return []
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, entries: str) -> None:
    """Put a package with these entry points on the path, as pip would."""
    (folder / "team_plugins.py").write_text(MODULE, encoding="utf-8")
    metadata = folder / "team_plugins-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: team-plugins\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(entries, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))


def test_package_adds_checks_and_splitters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check and a splitter of another package are found by their names, beside the shipped ones."""
    install(
        tmp_path,
        monkeypatch,
        "[headway.checks]\ndoors = team_plugins:DOORS\n[headway.splitters]\nhalves = team_plugins:halves\n",
    )
    assert list(load_checks()) == ["bars", "doors", "openings"]
    assert load_splitter("halves").__module__ == "team_plugins"


def test_plugin_of_the_wrong_kind_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no Check is refused by the entry point's name, before a worker starts with it."""
    install(tmp_path, monkeypatch, "[headway.checks]\nseven = team_plugins:NUMBER\n")
    with pytest.raises(PluginError, match=r"^check 'seven' is a int, not a Check$"):
        load_checks()


def test_shipped_ones_need_no_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no package's metadata is there at all, as in the worker image, the shipped ones still are."""
    monkeypatch.setattr("headway.vision.plugins.entry_points", lambda **_: ())
    assert load_checks() == {"bars": BARS, "openings": OPENINGS}
    assert load_splitter("frames").__module__ == "headway.vision.frames"


def test_unknown_splitter_is_one_line() -> None:
    """A splitter that nobody brings is refused by its name."""
    with pytest.raises(PluginError, match=r"^splitter 'scissors' is not installed$"):
        load_splitter("scissors")
