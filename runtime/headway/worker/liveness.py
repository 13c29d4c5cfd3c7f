"""Does this worker consume? Not "is it alive", but "when did its lane last answer, or its slots last have no room".

The mark is a file, so that another process may ask: ``python -m headway.worker.liveness`` is the container's health
check, and the worker's own watchdog reads the same age. Both are patient, because ECS stops a task that fails its
health check, protected or not, and a call that is nearly done must outlive an outage of its queue.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

#: Wall seconds without an answer after which a worker is of no use. Longer than an outage that polls ride out.
TOO_OLD_S = 300.0
_MARK_EVERY_S = 1.0


class Liveness:
    """The mark of one worker; its folder is the container's only writable one."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or Path(tempfile.gettempdir()) / "headway-consuming"
        self._marked = 0.0

    def mark(self) -> None:
        """Note that the lane has answered just now, or that every slot is busy; at most once a second."""
        now = time.monotonic()
        if now - self._marked >= _MARK_EVERY_S:
            self._marked = now
            self.path.touch()

    def age_s(self) -> float:
        """Return the wall seconds since the last mark; infinite before the first."""
        try:
            return time.time() - self.path.stat().st_mtime
        except FileNotFoundError:
            return float("inf")


def main() -> int:
    """Return 0 where the worker of this container consumes, 1 where it does not."""
    age_s = Liveness().age_s()
    if age_s <= TOO_OLD_S:
        return 0
    sys.stderr.write(f"headway.worker: last answer of the lane {age_s:.0f} s ago, more than {TOO_OLD_S:.0f} s\n")
    return 1


if __name__ == "__main__":
    os._exit(main())
