"""Metrics in, desired counts out: the alarms and policies of a stage, stepped by an injected clock."""

import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import fmean

from headway_ops.loop.alarms import AlarmSpec, AlarmState, MetricKey, evaluate
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
    _points: dict[MetricKey, deque[tuple[float, float]]] = field(default_factory=lambda: defaultdict(deque))
    #: How far back a metric's alarms look, in seconds.
    _reach: dict[MetricKey, float] = field(default_factory=dict)

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
        self._points[metric].append((at, value))

    def step(self, now: float) -> list[Event]:
        """Evaluate what is due at ``now``; return what changed, in order."""
        events = [event for alarm in list(self._alarms.values()) for event in self._step(alarm, now)]
        self._forget(now)
        return events

    def _step(self, alarm: _Alarm, now: float) -> Iterator[Event]:
        spec = alarm.spec
        boundary = math.floor(now / spec.evaluated_every_s) * spec.evaluated_every_s
        if boundary <= alarm.evaluated:
            return
        alarm.evaluated = boundary
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
        for at, value in self._points.get(spec.metric, ()):
            if start <= at < end:
                buckets[min(int((at - start) // period), count - 1)].append(value)
        statistic = _STATISTICS[spec.statistic]
        return [statistic(bucket) if bucket else None for bucket in buckets]

    def _measure(self) -> None:
        self._reach.clear()
        for spec in (alarm.spec for alarm in self._alarms.values()):
            back = (spec.range_periods + 1) * spec.period_s
            self._reach[spec.metric] = max(back, self._reach.get(spec.metric, 0.0))

    def _forget(self, now: float) -> None:
        for metric, points in self._points.items():
            oldest = now - self._reach.get(metric, 0.0)
            while points and points[0][0] < oldest:
                points.popleft()
