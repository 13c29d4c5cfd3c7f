"""Metrics in, desired counts out: the alarms and policies of a stage, stepped by an injected clock."""

import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import fmean

from headway_ops.loop.alarms import AlarmSpec, AlarmState, MetricKey, TreatMissing, evaluate
from headway_ops.loop.policy import Scaling, StepPolicy, Target

_STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "Maximum": max,
    "Minimum": min,
    "Sum": math.fsum,
    "Average": fmean,
    "SampleCount": len,
}
#: An alarm in ALARM invokes its scaling actions again once a minute (CloudWatch, "Alarm actions").
REINVOKE_EVERY_S = 60.0


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something the loop did: ``kind`` is alarm, scale-out or scale-in, between two states or two counts."""

    at: float
    kind: str
    subject: str
    before: str
    after: str


@dataclass(kw_only=True)
class _Alarm:
    spec: AlarmSpec
    state: AlarmState = AlarmState.INSUFFICIENT_DATA
    evaluated: float = -math.inf
    invoked: float = -math.inf
    #: When its metric last had a value outside the threshold.
    breached: float = -math.inf

    def quiet(self, boundary: float) -> bool:
        """Return whether the alarm is OK and must stay so: no value in its range is outside the threshold.

        Where a period's highest or lowest value counts, that value is inside too; where missing data does not breach,
        it does not matter how many periods have any.
        """
        spec = self.spec
        return (
            self.state is AlarmState.OK
            and self.breached < boundary - spec.range_periods * spec.period_s
            and spec.treat_missing is TreatMissing.NOT_BREACHING
            and spec.statistic in ("Maximum", "Minimum")
        )


@dataclass(kw_only=True)
class _Series:
    """One metric's datapoints, the alarms that look at them, and how far back those look, in seconds."""

    points: deque[tuple[float, float]] = field(default_factory=deque)
    alarms: list[_Alarm] = field(default_factory=list)
    reach_s: float = 0.0


@dataclass(kw_only=True)
class _Policy:
    policy: StepPolicy
    service: str


@dataclass
class ControlLoop:
    """The alarms, policies and targets of a stage, and the datapoints they look at.

    ``desired`` maps ``cluster/service`` to its desired count; the owner reads it after every step and writes it when
    somebody else changed a service. All times are stage seconds.
    """

    desired: dict[str, int] = field(default_factory=dict)
    _alarms: dict[str, _Alarm] = field(default_factory=dict)
    _policies: dict[str, _Policy] = field(default_factory=dict)
    _scalings: dict[str, Scaling] = field(default_factory=dict)
    _series: dict[MetricKey, _Series] = field(default_factory=lambda: defaultdict(_Series))

    def add_alarm(self, spec: AlarmSpec) -> None:
        """Add an alarm, or replace the one of that name; its state starts as INSUFFICIENT_DATA."""
        self._alarms[spec.name] = _Alarm(spec=spec)
        self._measure()

    def add_target(self, service: str, target: Target) -> None:
        """Add a service's bounds, or replace them; a count outside them moves to the nearer bound."""
        self._scalings[service] = Scaling(target=target)
        self.desired[service] = target.clamp(self.desired.get(service, target.min_capacity))

    def add_policy(self, arn: str, service: str, policy: StepPolicy) -> None:
        """Add a policy under the name its alarms invoke it by."""
        self._policies[arn] = _Policy(policy=policy, service=service)

    def remove(self, name: str) -> None:
        """Forget an alarm, a policy or a target; an unknown name is fine."""
        for known in (self._alarms, self._policies, self._scalings):
            known.pop(name, None)
        self._measure()

    def state(self, alarm: str) -> AlarmState:
        """Return an alarm's state.

        Raises:
            KeyError: there is no such alarm.
        """
        return self._alarms[alarm].state

    def put(self, metric: MetricKey, value: float, at: float) -> None:
        """Record one datapoint."""
        series = self._series[metric]
        series.points.append((at, value))
        for alarm in series.alarms:
            if at > alarm.breached and alarm.spec.breaches(value):
                alarm.breached = at

    def step(self, now: float) -> list[Event]:
        """Evaluate what is due at ``now``; return what changed, in order."""
        events: list[Event] = []
        for alarm in tuple(self._alarms.values()):
            every_s = alarm.spec.evaluated_every_s
            boundary = math.floor(now / every_s) * every_s
            if boundary > alarm.evaluated:
                alarm.evaluated = boundary
                if not alarm.quiet(boundary):
                    events.extend(self._evaluate(alarm, boundary, now))
        self._forget(now)
        return events

    def _evaluate(self, alarm: _Alarm, boundary: float, now: float) -> Iterator[Event]:
        spec = alarm.spec
        window = self._window(spec, boundary)
        before, alarm.state = alarm.state, evaluate(spec, window, alarm.state)
        changed = alarm.state is not before
        if changed:
            yield Event(at=now, kind="alarm", subject=spec.name, before=before, after=alarm.state)
        if alarm.state is AlarmState.ALARM and (changed or now - alarm.invoked >= REINVOKE_EVERY_S):
            alarm.invoked = now
            value = next((value for value in reversed(window) if value is not None), spec.threshold)
            for action in spec.actions:
                yield from self._act(action, value - spec.threshold, now)

    def _act(self, action: str, breach: float, now: float) -> Iterator[Event]:
        known = self._policies.get(action)
        if known is None or known.service not in self._scalings:
            return
        before = self.desired[known.service]
        after = self._scalings[known.service].apply(known.policy, breach=breach, capacity=before, now=now)
        if after != before:
            self.desired[known.service] = after
            kind = "scale-out" if after > before else "scale-in"
            yield Event(at=now, kind=kind, subject=known.service, before=str(before), after=str(after))

    def _window(self, spec: AlarmSpec, end: float) -> list[float | None]:
        """Return the statistic of each period in the evaluation range, oldest first."""
        count, period = spec.range_periods, spec.period_s
        buckets: list[list[float]] = [[] for _ in range(count)]
        start = end - count * period
        for at, value in self._series[spec.metric].points:
            if start <= at < end:
                buckets[min(int((at - start) // period), count - 1)].append(value)
        statistic = _STATISTICS[spec.statistic]
        return [statistic(bucket) if bucket else None for bucket in buckets]

    def _measure(self) -> None:
        """Tell each metric which alarms look at it, and how far back; what they saw breach stays known."""
        for series in self._series.values():
            series.alarms, series.reach_s = [], 0.0
        for alarm in self._alarms.values():
            series = self._series[alarm.spec.metric]
            series.alarms.append(alarm)
            series.reach_s = max(series.reach_s, (alarm.spec.range_periods + 1) * alarm.spec.period_s)
            breaches = (at for at, value in series.points if alarm.spec.breaches(value))
            alarm.breached = max(breaches, default=alarm.breached)

    def _forget(self, now: float) -> None:
        for series in self._series.values():
            oldest, points = now - series.reach_s, series.points
            while points and points[0][0] < oldest:
                points.popleft()
