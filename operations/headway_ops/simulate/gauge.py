"""Looks at the lanes as a publisher does: counts that are approximate and late, on a schedule that jitters."""

import math
import random
from collections.abc import Callable

from headway.scaling import LaneCounts, Reading
from headway_ops.simulate.conditions import Conditions
from headway_ops.simulate.engine import Engine
from headway_ops.simulate.lane import Lane
from headway_ops.simulate.policies.policy import Looks
from headway_ops.simulate.service import EcsService

_MINUTE_S = 60.0


class _Look:
    """One reading in the making: each count was true at a moment of its own."""

    __slots__ = ("held", "waiting")

    def __init__(self) -> None:
        self.waiting: tuple[int, ...] = ()
        self.held: tuple[int, ...] = ()


class Gauge:
    """Takes a reading at each beat of each minute, and shows it."""

    def __init__(
        self,
        engine: Engine,
        looks: Looks,
        lanes: tuple[Lane, Lane | None],
        service: EcsService,
        conditions: Conditions,
        rng: random.Random,
        show: Callable[[Reading], None],
    ) -> None:
        self._engine, self._looks, self._service, self._conditions = engine, looks, service, conditions
        self._lanes = [lane for lane in lanes if lane is not None]
        self._rng, self._show = rng, show
        # A schedule's minutes begin when it was made, not with the clock's.
        self._phase = rng.uniform(0, _MINUTE_S)

    def begin(self) -> None:
        """Start the schedule, a part of a minute in."""
        self._plan(self._phase - _MINUTE_S)
        self._engine.at(0.0, self._minute, self._phase)

    def _minute(self, start: float) -> None:
        """Plan a minute's beats a minute ahead, because the counts that they will read are those of before."""
        self._plan(start)
        self._engine.at(max(start, self._engine.now), self._minute, start + _MINUTE_S)

    def _plan(self, start: float) -> None:
        engine, rng, conditions = self._engine, self._rng, self._conditions
        delay = rng.uniform(*conditions.schedule_delay_s) if self._looks.scheduled else 0.0
        for beat in range(math.ceil(_MINUTE_S / self._looks.every_s)):
            at = start + delay + beat * self._looks.every_s
            if at < 0:
                continue
            look = _Look()
            lag = conditions.stale_s if rng.random() < conditions.stale_chance else conditions.count_lag_s
            engine.at(max(at - rng.uniform(*lag), engine.now), self._count_waiting, look)
            engine.at(max(at - rng.uniform(*lag), engine.now), self._count_held, look)
            engine.at(at, self._read, look)

    def _count_waiting(self, look: _Look) -> None:
        look.waiting = tuple(len(lane.waiting) for lane in self._lanes)

    def _count_held(self, look: _Look) -> None:
        look.held = tuple(lane.in_flight for lane in self._lanes)

    def _read(self, look: _Look) -> None:
        service = self._service
        counts = [LaneCounts(visible=v, in_flight=h) for v, h in zip(look.waiting, look.held, strict=True)]
        self._show(
            Reading(
                heavy=counts[0],
                fast=counts[1] if len(counts) > 1 else None,
                running=service.running,
                desired=service.desired,
                protected=service.protected(),
                deploying=service.deploying,
            )
        )
