"""Step scaling on a metric, through the control-loop model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headway.scaling import Reading, Step
from headway.scaling.classic import change_in_capacity_steps
from headway_ops.loop import Adjustment, AlarmSpec, ControlLoop, MetricKey, StepPolicy, Target, TreatMissing

_METRIC = MetricKey("Peer", "Metric")
_SERVICE = "cluster/heavy"


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Two alarms and their steps. From ``out_at[i]`` on ``out_add[i]`` tasks are added; at ``in_at`` one goes."""

    metric: Callable[[Reading], float]
    out_at: Sequence[float]
    out_add: Sequence[int]
    in_at: float
    period_s: int
    in_periods: int
    cooldown_s: float
    target: Target


class Stepped:
    """A controller of step scaling."""

    def __init__(self, steps: Steps) -> None:
        self._metric, self._loop = steps.metric, ControlLoop()
        self._loop.add_target(_SERVICE, steps.target)
        rising = change_in_capacity_steps(steps.out_at, steps.out_add)
        falling = (Step(lower=None, upper=0, adjustment=-1),)
        for name, ladder in (("out", rising), ("in", falling)):
            policy = StepPolicy(adjustment=Adjustment.CHANGE, steps=ladder, cooldown_s=steps.cooldown_s)
            self._loop.add_policy(name, _SERVICE, policy)
        self._loop.add_alarm(_alarm("out", "GreaterThanOrEqualToThreshold", steps.out_at[0], steps.period_s, 1))
        self._loop.add_alarm(_alarm("in", "LessThanOrEqualToThreshold", steps.in_at, steps.period_s, steps.in_periods))

    def look(self, reading: Reading, cpu_percent: float, now: float) -> None:
        """Publish the metric."""
        self._loop.put(_METRIC, self._metric(reading), now)

    def decide(self, now: float, desired: int, *, start: int | None = None, deploying: bool = False) -> int:
        """Evaluate the alarms that are due."""
        self._loop.desired[_SERVICE] = desired
        self._loop.starts[_SERVICE] = start
        self._loop.deploying = {_SERVICE} if deploying else set()
        self._loop.step(now)
        return self._loop.desired[_SERVICE]


def _alarm(name: str, comparison: str, threshold: float, period_s: int, periods: int) -> AlarmSpec:
    return AlarmSpec(
        name=name,
        metric=_METRIC,
        comparison=comparison,
        threshold=threshold,
        period_s=period_s,
        evaluation_periods=periods,
        datapoints_to_alarm=periods,
        treat_missing=TreatMissing.NOT_BREACHING,
        statistic="Maximum",
        actions=(name,),
    )
