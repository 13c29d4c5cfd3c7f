"""How long is a stage second? One place knows, so that a stage on a laptop can run faster than true time."""

import asyncio
import time


class StageClock:
    """Turns stage seconds into wall seconds; ``speed`` is stage seconds in a wall second, 1 in a deployed stage."""

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed

    def wall(self, stage_s: float, *, at_least: float = 0.0) -> float:
        """Return ``stage_s`` in wall seconds, never under ``at_least`` wall seconds (what still works in practice)."""
        return max(stage_s / self.speed, at_least)

    def monotonic(self) -> float:
        """Return stage seconds since an arbitrary start; never goes back."""
        return time.monotonic() * self.speed

    def epoch(self) -> float:
        """Return stage seconds from the epoch: what the periods of alarms are counted by."""
        return time.time() * self.speed

    async def sleep(self, stage_s: float) -> None:
        """Let ``stage_s`` stage seconds pass."""
        await asyncio.sleep(self.wall(stage_s))
