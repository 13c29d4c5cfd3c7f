"""Metrics in, desired counts out: the alarms and policies of a stage, stepped by an injected clock."""

from collections import defaultdict
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from headway_ops.loop.alarms import AlarmSpec, AlarmState, MetricKey, evaluate
from headway_ops.loop.policy import Scaling, StepPolicy, Target
from headway_ops.loop.series import Series, Watch

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
class _Policy:
    policy: StepPolicy
    service: str


@dataclass
class ControlLoop:
    """The alarms, policies and targets of a stage, and the datapoints they look at.

    ``desired`` maps ``cluster/service`` to its desired count; the owner reads it after every step and writes it when
    somebody else changed a service. ``starts`` is what a change is added to, where that is not the desired count.
    ``deploying`` are the services that the owner knows to be in a deployment. All times are stage seconds.
    """

    desired: dict[str, int] = field(default_factory=dict)
    starts: dict[str, int | None] = field(default_factory=dict)
    deploying: Set[str] = frozenset()
    _alarms: dict[str, Watch] = field(default_factory=dict)
    _policies: dict[str, _Policy] = field(default_factory=dict)
    _scalings: dict[str, Scaling] = field(default_factory=dict)
    _series: dict[MetricKey, Series] = field(default_factory=lambda: defaultdict(Series))

    def add_alarm(self, spec: AlarmSpec) -> None:
        """Add an alarm, or replace the one of that name; its state starts as INSUFFICIENT_DATA."""
        self._leave(spec.name)
        self._alarms[spec.name] = watch = Watch(spec)
        self._series[spec.metric].join(watch)

    def add_target(self, service: str, target: Target) -> None:
        """Add a service's bounds, or replace them; a count outside them moves to the nearer bound."""
        self._scalings[service] = Scaling(target=target)
        self.desired[service] = target.clamp(self.desired.get(service, target.min_capacity))

    def add_policy(self, arn: str, service: str, policy: StepPolicy) -> None:
        """Add a policy under the name its alarms invoke it by."""
        self._policies[arn] = _Policy(policy=policy, service=service)

    def remove(self, name: str) -> None:
        """Forget an alarm, a policy or a target; an unknown name is fine."""
        self._leave(name)
        for known in (self._alarms, self._policies, self._scalings):
            known.pop(name, None)

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
        return any(action in self._policies for watch in self._series[metric].watches for action in watch.spec.actions)

    def put(self, metric: MetricKey, value: float, at: float) -> None:
        """Record one datapoint."""
        self._series[metric].put(value, at)

    def step(self, now: float) -> list[Event]:
        """Evaluate what is due at ``now``; return what changed, in order."""
        events: list[Event] = []
        for watch in self._alarms.values():
            if now >= watch.due:
                boundary = now // watch.every_s * watch.every_s
                watch.due = boundary + watch.every_s
                if not watch.quiet(boundary):
                    events.extend(self._evaluate(watch, boundary, now))
        return events

    def _evaluate(self, watch: Watch, boundary: float, now: float) -> Iterator[Event]:
        spec = watch.spec
        window = self._series[spec.metric].window(spec, boundary)
        before, watch.state = watch.state, evaluate(spec, window, watch.state)
        changed = watch.state is not before
        if changed:
            yield Event(at=now, kind="alarm", subject=spec.name, before=before, after=watch.state)
        if watch.state is AlarmState.ALARM and (changed or now - watch.invoked >= REINVOKE_EVERY_S):
            watch.invoked = now
            value = next((value for value in reversed(window) if value is not None), spec.threshold)
            for action in spec.actions:
                yield from self._act(action, value - spec.threshold, now)

    def _act(self, action: str, breach: float, now: float) -> Iterator[Event]:
        known = self._policies.get(action)
        if known is None or known.service not in self._scalings:
            return
        before = self.desired[known.service]
        after = self._scalings[known.service].apply(
            known.policy,
            breach=breach,
            capacity=before,
            start=self.starts.get(known.service),
            now=now,
            deploying=known.service in self.deploying,
        )
        if after != before:
            self.desired[known.service] = after
            kind = "scale-out" if after > before else "scale-in"
            yield Event(at=now, kind=kind, subject=known.service, before=str(before), after=str(after))

    def _leave(self, name: str) -> None:
        if watch := self._alarms.get(name):
            self._series[watch.spec.metric].leave(watch)
