"""Stage seconds and wall seconds."""

import asyncio
import time

import pytest

from headway.clock import StageClock


@pytest.mark.parametrize(("speed", "wall"), [(1.0, 120.0), (60.0, 2.0)])
def test_a_stage_second_is_a_fraction_of_a_wall_second(speed: float, wall: float) -> None:
    """Two stage minutes."""
    assert StageClock(speed).wall(120.0) == wall


def test_a_floor_is_kept() -> None:
    """What works in practice comes before the stage's truth."""
    assert StageClock(1_000.0).wall(120.0, at_least=3.0) == 3.0


def test_the_stage_goes_by_at_its_speed() -> None:
    """Fifty stage seconds at a thousand times true time are no less than fifty milliseconds."""
    clock = StageClock(1_000.0)
    wall, stage = time.monotonic(), clock.monotonic()
    asyncio.run(clock.sleep(50.0))
    assert time.monotonic() - wall >= 0.05
    assert clock.monotonic() - stage >= 50.0
