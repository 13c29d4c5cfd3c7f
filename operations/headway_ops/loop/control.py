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


class _Alarm:
    """An alarm at work. What its definition says is looked up once: an alarm is asked every few seconds for months."""

    __slots__ = (
        "_calm",
        "_range_s",
        "breached",
        "compare",
        "due",
        "every_s",
        "invoked",
        "spec",
        "state",
        "threshold",
    )

    def __init__(self, spec: AlarmSpec) -> None:
        self.spec, self.every_s = spec, spec.evaluated_every_s
        self.compare, self.threshold = spec.compare, spec.threshold
        self.state = AlarmState.INSUFFICIENT_DATA
        #: When it is evaluated next, and when it last invoked its actions.
        self.due = self.invoked = -math.inf
        #: When its metric last had a value outside the threshold.
        self.breached = -math.inf
        self._range_s = spec.range_periods * spec.period_s
        # Where a period's highest or lowest value counts, one period of values inside the threshold is inside too;
        # where missing data does not breach, it does not matter how many periods have any.
        self._calm = spec.treat_missing is TreatMissing.NOT_BREACHING and spec.statistic in ("Maximum", "Minimum")

    def quiet(self, boundary: float) -> bool:
        """Return whether the alarm is OK and must stay so: no value in its range is outside the threshold."""
        return self._calm and self.breached < boundary - self._range_s and self.state is AlarmState.OK


@dataclass(kw_only=True)
class Series:
    """One metric's datapoints, the alarms that look at them, and how far back those look, in seconds."""

    points: deque[tuple[float, float]] = field(default_factory=deque)
    alarms: list[_Alarm] = field(default_factory=list)
    reach_s: float = 0.0

    def put(self, value: float, at: float) -> None:
        """Record one datapoint, and forget those that no alarm looks back to."""
        points = self.points
        points.append((at, value))
        while points[0][0] < at - self.reach_s:
            points.popleft()
        for alarm in self.alarms:
            if alarm.compare(value, alarm.threshold) and at > alarm.breached:
                alarm.breached = at


@dataclass(kw_only=True)
class _Policy:
    policy: StepPolicy
    service: str


@dataclass
class ControlLoop:
    """The alarms, policies and targets of a stage, and the datapoints they look at.

    ``desired`` maps ``cluster/service`` to its desired count; the owner reads it after every step and writes it when
    somebody else changed a service. ``deploying`` are the services that the owner knows to be in a deployment. All
    times are stage seconds.
    """

    desired: dict[str, int] = field(default_factory=dict)
    deploying: set[str] = field(default_factory=set)
    _alarms: dict[str, _Alarm] = field(default_factory=dict)
    _policies: dict[str, _Policy] = field(default_factory=dict)
    _scalings: dict[str, Scaling] = field(default_factory=dict)
    _series: dict[MetricKey, Series] = field(default_factory=lambda: defaultdict(Series))

    def add_alarm(self, spec: AlarmSpec) -> None:
        """Add an alarm, or replace the one of that name; its state starts as INSUFFICIENT_DATA."""
        self._alarms[spec.name] = _Alarm(spec)
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

    def series(self, metric: MetricKey) -> Series:
        """Return where a metric's datapoints go."""
        return self._series[metric]

    def scales(self, metric: MetricKey) -> bool:
        """Return whether a scaling policy acts on a metric."""
        return any(action in self._policies for alarm in self._series[metric].alarms for action in alarm.spec.actions)

    def put(self, metric: MetricKey, value: float, at: float) -> None:
        """Record one datapoint."""
        self._series[metric].put(value, at)

    def step(self, now: float) -> list[Event]:
        """Evaluate what is due at ``now``; return what changed, in order."""
        events: list[Event] = []
        for alarm in self._alarms.values():
            if now >= alarm.due:
                boundary = math.floor(now / alarm.every_s) * alarm.every_s
                alarm.due = boundary + alarm.every_s
                if not alarm.quiet(boundary):
                    events.extend(self._evaluate(alarm, boundary, now))
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
        after = self._scalings[known.service].apply(
            known.policy, breach=breach, capacity=before, now=now, deploying=known.service in self.deploying
        )
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
