"""Headway's own: a published need or backlog, the template's alarms, and its step policies."""

from collections.abc import Callable

from headway.scaling import Decision, Reading, metrics
from headway_ops.loop import ControlLoop, MetricKey
from headway_ops.simulate.policies.policy import Looks, Policy
from headway_ops.simulate.shape import FleetShape
from headway_ops.simulate.stage import Scaling, SimulatedStage


class Published:
    """The publisher and the alarms of a stage's template, through the control-loop model."""

    def __init__(self, scaling: Scaling) -> None:
        self._plan, self._service, self._itself = scaling.plan, scaling.service, frozenset({scaling.service})
        self._loop: ControlLoop = scaling.loop()
        watched = {alarm.metric for alarm in scaling.alarms}
        # Only what an alarm looks at; the rest is for charts.
        self._metrics = [
            (self._loop.series(key), value)
            for metric, value in _VALUES.items()
            if (key := MetricKey(scaling.namespace, metric.name, scaling.dimensions)) in watched
        ]
        self._reading: Reading | None = None
        self._values: list[tuple[Callable[[float, float], None], float]]

    def look(self, reading: Reading, cpu_percent: float, now: float) -> None:
        """Publish what the plan decides."""
        if reading is not self._reading:  # a gauge that sees no change shows the same reading again
            self._reading, decision = reading, self._plan.decide(reading)
            self._values = [(series.put, value(decision)) for series, value in self._metrics]
        for put, value in self._values:
            put(value, now)

    def decide(self, now: float, desired: int, *, start: int | None = None, deploying: bool = False) -> int:
        """Evaluate the alarms that are due."""
        loop = self._loop
        loop.desired[self._service] = desired
        loop.starts[self._service] = start
        loop.deploying = self._itself if deploying else frozenset()
        loop.step(now)
        return loop.desired[self._service]


_VALUES: dict[metrics.Metric, Callable[[Decision], float]] = {
    metrics.SCALE_OUT_TO: lambda decision: decision.scale_out_to,
    metrics.SCALE_IN_TO: lambda decision: decision.scale_in_to,
    metrics.BACKLOG_PER_TASK: lambda decision: decision.backlog_per_task,
    metrics.NEED: lambda decision: decision.need,
}


def headway(stage: SimulatedStage) -> Policy:
    """Return the policy of a stage's own template."""
    scaling = stage.scaling
    return Policy(
        name="headway",
        fleet=FleetShape(heavy=stage.heavy, fast=stage.fast),
        looks=Looks(
            every_s=scaling.publish_every_s,
            decides_every_s=min(alarm.evaluated_every_s for alarm in scaling.alarms),
            turns=True,
        ),
        controller=lambda: Published(scaling),
    )
