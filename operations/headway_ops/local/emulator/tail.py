"""A file that grows, read by whole lines."""

from pathlib import Path


class Tail:
    """Reads on from where it last stopped; a line that is not ended yet waits for the rest of it."""

    def __init__(self, path: Path) -> None:
        self._path, self._at = path, 0

    def lines(self) -> list[str]:
        """Return the lines that were ended since the last look, without their newlines; none without a file."""
        if not self._path.exists() or self._path.stat().st_size == self._at:
            return []
        with self._path.open("rb") as file:
            file.seek(self._at)
            whole, newline, _ = file.read().rpartition(b"\n")
        if not newline:
            return []
        self._at += len(whole) + 1
        return whole.decode(errors="replace").split("\n")
