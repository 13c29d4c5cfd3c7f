"""How much memory do a process and all its descendants hold together?"""

import time

import psutil

_SAMPLE_EVERY_WALL_S = 3.0


class MemoryMeter:
    """Keeps the peak; shared pages count once (proportional set size) where the system tells them apart."""

    def __init__(self) -> None:
        self.peak_mib = 0.0
        self._next = 0.0
        self._self = psutil.Process()

    def sample(self) -> None:
        """Look, if the last look was long enough ago: reading page tables costs milliseconds a process."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _SAMPLE_EVERY_WALL_S
        held = sum(_held(process) for process in (self._self, *self._self.children(recursive=True)))
        self.peak_mib = max(self.peak_mib, held / 2**20)


def _held(process: psutil.Process) -> int:
    try:
        info = process.memory_full_info()
    except psutil.Error:
        return 0
    return int(getattr(info, "pss", info.uss))
