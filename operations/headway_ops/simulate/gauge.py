"""Looks at the lanes as a publisher does: counts that are approximate and late, on a schedule that jitters."""

import math
import random
from collections.abc import Callable

from headway.scaling import LaneCounts, Reading
from headway.scaling.turns import READ_LEAD_S
from headway_ops.simulate.conditions import Conditions
from headway_ops.simulate.engine import Engine
from headway_ops.simulate.lane import Lane
from headway_ops.simulate.policies.policy import Looks
from headway_ops.simulate.service import EcsService

_MINUTE_S = 60.0


class _Look:
    """One reading in the making, a pair of counts of each lane: each pair was true at a moment of its own."""

    __slots__ = ("held", "waiting")

    waiting: tuple[int, int]
    held: tuple[int, int]


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
        self._heavy, self._fast = lanes
        self._rng, self._show = rng, show
        #: What was shown last, and what it was made of.
        self._reading: Reading
        self._seen: tuple[object, ...] = ()
        # A rate's minutes begin when it was made; who takes turns keeps to the clock's, from which the run begins.
        self._phase = 0.0 if looks.turns else rng.uniform(0, _MINUTE_S)

    def begin(self) -> None:
        """Start the schedule, a part of a minute in."""
        self._plan(self._phase - _MINUTE_S)
        self._engine.at(0.0, self._minute, self._phase)

    def _minute(self, start: float) -> None:
        """Plan a minute's beats a minute ahead, because the counts that they will read are those of before."""
        self._plan(start)
        self._engine.at(max(start, self._engine.now), self._minute, start + _MINUTE_S)

    def _plan(self, start: float) -> None:
        at_, now, conditions, random_ = self._engine.at, self._engine.now, self._conditions, self._rng.random
        if self._looks.turns:
            at = start + self._looks.every_s - READ_LEAD_S
        else:
            at = start + (self._rng.uniform(*conditions.schedule_delay_s) if self._looks.scheduled else 0.0)
        for _ in range(math.ceil(_MINUTE_S / self._looks.every_s)):
            if at >= 0:
                look = _Look()
                low, high = conditions.stale_s if random_() < conditions.stale_chance else conditions.count_lag_s
                for count in (self._count_waiting, self._count_held):
                    true_at = at - low - (high - low) * random_()
                    at_(true_at if true_at > now else now, count, look)
                at_(at, self._read, look)
            at += self._looks.every_s

    def _count_waiting(self, look: _Look) -> None:
        look.waiting = len(self._heavy.waiting), len(self._fast.waiting) if self._fast else 0

    def _count_held(self, look: _Look) -> None:
        look.held = self._heavy.in_flight, self._fast.in_flight if self._fast else 0

    def _read(self, look: _Look) -> None:
        service = self._service
        protected = service.protected()
        seen = look.waiting, look.held, service.running, service.desired, protected, service.deploying
        if seen != self._seen:
            self._seen = seen
            (heavy_waiting, fast_waiting), (heavy_held, fast_held) = look.waiting, look.held
            self._reading = Reading(
                heavy=LaneCounts(heavy_waiting, heavy_held),
                fast=LaneCounts(fast_waiting, fast_held) if self._fast else None,
                running=service.running,
                desired=service.desired,
                protected=protected,
                deploying=service.deploying,
            )
        self._show(self._reading)
