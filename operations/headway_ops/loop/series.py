"""One metric's datapoints, and the alarms that watch it.

What an alarm's definition says is looked up once, because an alarm is asked every few seconds for months. Most of the
time it is OK and must stay so; `Watch.quiet` sees that from a few times alone.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from headway_ops.loop.alarms import AlarmSpec, AlarmState, TreatMissing

_STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "Maximum": max,
    "Minimum": min,
    "Sum": math.fsum,
    "Average": fmean,
    "SampleCount": len,
}


class Watch:
    """An alarm at work. ``due`` is when it is evaluated next, ``invoked`` when it last invoked its actions."""

    __slots__ = (
        "_all",
        "_calm",
        "_outside",
        "_period_s",
        "_range_s",
        "_to_alarm",
        "compare",
        "due",
        "every_s",
        "invoked",
        "points",
        "spec",
        "state",
        "threshold",
    )

    def __init__(self, spec: AlarmSpec) -> None:
        self.spec, self.every_s = spec, spec.evaluated_every_s
        self.compare, self.threshold = spec.compare, spec.threshold
        self.state = AlarmState.INSUFFICIENT_DATA
        self.due = self.invoked = -math.inf
        #: Its metric's datapoints, once it watches one.
        self.points: Sequence[tuple[float, float]] = ()
        #: When its metric last had values outside the threshold, rising, as many as can make an alarm.
        self._outside: list[float] = []
        self._to_alarm, self._all = spec.datapoints_to_alarm, spec.datapoints_to_alarm == spec.evaluation_periods
        self._period_s, self._range_s = spec.period_s, spec.range_periods * spec.period_s
        # Where a period's highest or lowest value counts, it takes a value outside the threshold to put a period's
        # outside; where missing data does not breach, it does not matter how many periods have any.
        self._calm = spec.treat_missing is TreatMissing.NOT_BREACHING and spec.statistic in ("Maximum", "Minimum")

    def breach(self, at: float) -> None:
        """Know of a value outside the threshold."""
        outside = self._outside
        outside.append(at)
        if len(outside) > 1 and at < outside[-2]:
            outside.sort()
        if len(outside) > self._to_alarm:
            del outside[0]

    def quiet(self, boundary: float) -> bool:
        """Return whether the alarm is OK and must stay so.

        Too few values in its range are outside the threshold, or all periods must be and the newest is known not to.
        """
        if not self._calm or self.state is not AlarmState.OK:
            return False
        outside = self._outside
        if len(outside) < self._to_alarm or outside[0] < boundary - self._range_s:
            return True
        newest = boundary - self._period_s
        return self._all and outside[-1] < newest <= self.points[-1][0] < boundary


@dataclass(kw_only=True)
class Series:
    """One metric's datapoints, the alarms that watch them, and how far back those look, in seconds."""

    points: deque[tuple[float, float]] = field(default_factory=deque)
    watches: list[Watch] = field(default_factory=list)
    reach_s: float = 0.0

    def put(self, value: float, at: float) -> None:
        """Record one datapoint, and forget those that no alarm looks back to."""
        points = self.points
        points.append((at, value))
        while points[0][0] < at - self.reach_s:
            points.popleft()
        for watch in self.watches:
            if watch.compare(value, watch.threshold):
                watch.breach(at)

    def join(self, watch: Watch) -> None:
        """Have an alarm watch, knowing of what is outside its threshold already."""
        self.watches.append(watch)
        watch.points = self.points
        self._measure()
        for at, value in self.points:
            if watch.compare(value, watch.threshold):
                watch.breach(at)

    def leave(self, watch: Watch) -> None:
        """Have an alarm watch no more."""
        self.watches.remove(watch)
        self._measure()

    def window(self, spec: AlarmSpec, end: float) -> list[float | None]:
        """Return the statistic of each period in an alarm's evaluation range, oldest first; None where none has any."""
        count, period = spec.range_periods, spec.period_s
        buckets: list[list[float]] = [[] for _ in range(count)]
        start = end - count * period
        for at, value in self.points:
            if start <= at < end:
                buckets[min(int((at - start) // period), count - 1)].append(value)
        statistic = _STATISTICS[spec.statistic]
        return [statistic(bucket) if bucket else None for bucket in buckets]

    def _measure(self) -> None:
        specs = [watch.spec for watch in self.watches]
        self.reach_s = max(((spec.range_periods + 1) * spec.period_s for spec in specs), default=0.0)
