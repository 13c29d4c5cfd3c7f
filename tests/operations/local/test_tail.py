"""A growing file is read a whole line at a time, each line once."""

from pathlib import Path

from headway_ops.local.emulator.tail import Tail


def test_each_line_is_read_once_and_when_it_is_whole(tmp_path: Path) -> None:
    """Before the file exists, after two lines and a half, after the rest of it, and when nothing has come."""
    path = tmp_path / "log"
    tail = Tail(path)
    assert tail.lines() == []
    path.write_bytes(b"one\n\ntw")
    assert tail.lines() == ["one", ""]
    with path.open("ab") as file:
        file.write(b"o\nthree")
    assert tail.lines() == ["two"]
    assert tail.lines() == []


def test_what_is_no_text_is_replaced(tmp_path: Path) -> None:
    """A byte that is no UTF-8 costs its character, not the line."""
    path = tmp_path / "log"
    path.write_bytes(b"a\xffb\n")
    assert Tail(path).lines() == ["a\N{REPLACEMENT CHARACTER}b"]
