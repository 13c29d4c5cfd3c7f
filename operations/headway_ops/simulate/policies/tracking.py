"""Target tracking: Application Auto Scaling keeps a metric near a target, in proportion.

Modelled from what its alarms show: out when 3 of 3 minutes are above the target, in when 15 of 15 are below nine tenths
of it ("Target tracking scaling policies" names neither number), to the capacity that would meet the target.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from headway.scaling import Reading
from headway_ops.loop import Target
from headway_ops.simulate.policies.policy import Controller

_OUT_MINUTES, _IN_MINUTES, _IN_BELOW = 3, 15, 0.9


@dataclass(frozen=True, kw_only=True)
class Tracking:
    """A target. ``metric`` is given a reading and the fleet's mean CPU in percent; cooldowns are seconds."""

    metric: Callable[[Reading, float], float]
    target: float
    bounds: Target
    out_cooldown_s: float = 300.0
    in_cooldown_s: float = 300.0


class Tracked:
    """A controller of target tracking; it decides once a minute."""

    def __init__(self, tracking: Tracking) -> None:
        self._tracking = tracking
        self._minutes: deque[float] = deque(maxlen=_IN_MINUTES)
        self._latest = math.nan
        self._quiet_until = -math.inf

    def look(self, reading: Reading, cpu_percent: float, now: float) -> None:
        """Publish the metric."""
        self._latest = self._tracking.metric(reading, cpu_percent)

    def decide(self, now: float, desired: int, *, start: int | None = None, deploying: bool = False) -> int:
        """Return the capacity in proportion, where enough minutes ask for a change."""
        if math.isnan(self._latest):
            return desired
        self._minutes.append(self._latest)
        tracking, minutes = self._tracking, list(self._minutes)
        capacity = desired if start is None else start
        wanted = tracking.bounds.clamp(math.ceil(capacity * self._latest / tracking.target))
        above = len(minutes) >= _OUT_MINUTES and min(minutes[-_OUT_MINUTES:]) > tracking.target
        below = len(minutes) == _IN_MINUTES and max(minutes) < _IN_BELOW * tracking.target
        if now < self._quiet_until or not (wanted > desired if above else below and wanted < desired and not deploying):
            return desired
        self._quiet_until = now + (tracking.out_cooldown_s if above else tracking.in_cooldown_s)
        return wanted


class Both:
    """Two policies on one target: out to the higher of them, in only where both agree."""

    def __init__(self, *controllers: Controller) -> None:
        self._controllers = controllers

    def look(self, reading: Reading, cpu_percent: float, now: float) -> None:
        """Show both the reading."""
        for controller in self._controllers:
            controller.look(reading, cpu_percent, now)

    def decide(self, now: float, desired: int, *, start: int | None = None, deploying: bool = False) -> int:
        """Return the highest of what they ask for."""
        return max(
            controller.decide(now, desired, start=start, deploying=deploying) for controller in self._controllers
        )
