"""What happened on the stage, one JSON object a line, for whoever watches it."""

import json
import time
from pathlib import Path
from typing import Any

from headway_ops.local.emulator.stage_time import StageTime


class Journal:
    """Appends events; ``at`` is stage seconds, ``wall`` the clock on the wall."""

    def __init__(self, path: Path, clock: StageTime) -> None:
        self._path = path
        self._clock = clock

    def note(self, kind: str, subject: str, *, at: float | None = None, **details: Any) -> None:
        """Write one event down, which was ``at`` or is now."""
        at = self._clock.now() if at is None else at
        line = {"at": round(at, 6), "wall": time.time(), "kind": kind, "subject": subject, **details}
        with self._path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(line) + "\n")
