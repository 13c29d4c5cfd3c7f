"""When does a CloudWatch alarm change its state?

Modelled from "Using Amazon CloudWatch alarms": M breaching datapoints out of N periods, four treatments of missing
data, and an evaluation range that reaches further back than N so that late datapoints still count ("How alarm state
is evaluated when data is missing"). How much further is not documented; its examples show two periods.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import ge, gt, le, lt

#: Periods looked at beyond the evaluation periods, as in the guide's five-datapoint examples for N = 3.
EXTRA_PERIODS = 2


class AlarmState(StrEnum):
    """CloudWatch's three alarm states."""

    OK = "OK"
    ALARM = "ALARM"
    INSUFFICIENT_DATA = "INSUFFICIENT_DATA"


class TreatMissing(StrEnum):
    """How a period without a datapoint counts."""

    MISSING = "missing"
    IGNORE = "ignore"
    BREACHING = "breaching"
    NOT_BREACHING = "notBreaching"


_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "GreaterThanOrEqualToThreshold": ge,
    "GreaterThanThreshold": gt,
    "LessThanOrEqualToThreshold": le,
    "LessThanThreshold": lt,
}


@dataclass(frozen=True)
class MetricKey:
    """What tells one metric from another: dimensions are part of its identity."""

    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, kw_only=True)
class AlarmSpec:
    """One alarm's definition; ``datapoints_to_alarm`` of ``evaluation_periods`` must breach."""

    name: str
    metric: MetricKey
    comparison: str
    threshold: float
    period_s: int
    evaluation_periods: int
    datapoints_to_alarm: int
    treat_missing: TreatMissing = TreatMissing.MISSING
    statistic: str = "Average"
    actions: tuple[str, ...] = ()

    @property
    def evaluated_every_s(self) -> int:
        """Periods under a minute are evaluated as often as they end, all others every minute."""
        return min(self.period_s, 60)

    @property
    def range_periods(self) -> int:
        """How many periods back the evaluation looks."""
        return self.evaluation_periods + EXTRA_PERIODS

    @property
    def compare(self) -> Callable[[float, float], bool]:
        """What tells whether a value, beside the threshold, is outside of it."""
        return _COMPARISONS[self.comparison]

    def breaches(self, value: float) -> bool:
        """Return whether ``value`` is outside the threshold."""
        return self.compare(value, self.threshold)


def evaluate(spec: AlarmSpec, window: Sequence[float | None], current: AlarmState) -> AlarmState:
    """Return the alarm's next state for a window of datapoints, oldest first; None is a period without data."""
    known = breaching = oldest = 0
    for age, value in enumerate(reversed(window), start=1):
        if value is not None:
            known, oldest = known + 1, age
            breaching += spec.breaches(value)
            if known == spec.evaluation_periods:
                break
    missing = spec.evaluation_periods - known
    if breaching >= spec.datapoints_to_alarm:
        return AlarmState.ALARM
    if missing == 0 or spec.treat_missing is TreatMissing.NOT_BREACHING:
        return AlarmState.OK
    if spec.treat_missing is TreatMissing.BREACHING:
        return AlarmState.ALARM if breaching + missing >= spec.datapoints_to_alarm else AlarmState.OK
    if not known:
        return current if spec.treat_missing is TreatMissing.IGNORE else AlarmState.INSUFFICIENT_DATA
    if breaching < known:
        return AlarmState.OK
    # All that is known breaches, but too little is known. `missing` alarms once the oldest breach is old enough that
    # later datapoints could not have undone it; before that, and under `ignore`, the state is kept.
    old_enough = oldest >= spec.datapoints_to_alarm
    return AlarmState.ALARM if old_enough and spec.treat_missing is TreatMissing.MISSING else current
