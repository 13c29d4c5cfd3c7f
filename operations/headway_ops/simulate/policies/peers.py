"""What others ship, with their documented semantics, on the workers that usually come with it.

Their workers run one block a message, four at a time with two calls each, on both lanes, and protect a task from its
first message to its last: more than most of them do by themselves, so that what differs is the scaling.
"""

import dataclasses
import math

from headway.scaling import Reading, max_tasks_within
from headway_ops.loop import Target
from headway_ops.simulate.policies.direct import Computed, Fixed, messages_per_task
from headway_ops.simulate.policies.policy import Controller, Looks, Policy
from headway_ops.simulate.policies.stepped import Stepped, Steps
from headway_ops.simulate.policies.tracking import Both, Tracked, Tracking
from headway_ops.simulate.shape import FleetShape, Guard, Lanes
from headway_ops.simulate.stage import LaneShape, ServiceShape, SimulatedStage

_CONCURRENCY, _MAX_INFLIGHT = 4, 2
#: "A cap so that a spike cannot melt the bill", tied to nothing else.
_UNTIED_CAP = 50
_MINUTELY = Looks(every_s=60.0, decides_every_s=60.0)


def peers(stage: SimulatedStage) -> list[Policy]:
    """Return every peer, on a stage's quota and sizes of tasks."""
    return [before(stage), formula(stage), classic(stage), queue_processing(stage), copilot(stage), keda(stage)]


def before(stage: SimulatedStage) -> Policy:
    """Return where many teams start: one slot, one queue, and a CPU target that I/O-bound work never meets."""
    heavy = dataclasses.replace(_heavy(stage), concurrency=1, max_inflight=1, protection_s=0.0)
    cpu = Tracking(metric=lambda _, cpu: cpu, target=70.0, bounds=_bounds(stage))
    fleet = dataclasses.replace(_fleet(stage), heavy=heavy, lanes=Lanes.SINGLE, guard=Guard.NONE)
    return Policy(name="before", fleet=fleet, looks=_MINUTELY, controller=lambda: Tracked(cpu))


def formula(stage: SimulatedStage) -> Policy:
    """Return waiting messages over five, under a cap of its own, with each message protecting for itself."""
    fleet = dataclasses.replace(_fleet(stage), guard=Guard.PER_MESSAGE)
    ask = messages_per_task(lambda reading: reading.heavy.visible, 5, _UNTIED_CAP)
    return Policy(name="formula", fleet=fleet, looks=_MINUTELY, controller=lambda: Computed(ask))


def classic(stage: SimulatedStage) -> Policy:
    """Return steps on waiting messages by running task, capped by the quota."""
    steps = Steps(
        metric=lambda reading: reading.heavy.visible / max(reading.running, 1),
        out_at=(5, 10, 20),
        out_add=(1, 2, 4),
        in_at=1,
        period_s=60,
        in_periods=5,
        cooldown_s=60,
        target=_bounds(stage),
    )
    return Policy(name="classic", fleet=_fleet(stage), looks=_MINUTELY, controller=lambda: Stepped(steps))


def queue_processing(stage: SimulatedStage) -> Policy:
    """Return the CDK's QueueProcessingFargateService as it comes: its steps, its bounds and its CPU target."""
    bounds = Target(min_capacity=1, max_capacity=2)
    steps = Steps(
        metric=lambda reading: reading.heavy.visible,
        out_at=(100, 500),
        out_add=(1, 5),
        in_at=0,
        period_s=300,
        in_periods=1,
        cooldown_s=300,
        target=bounds,
    )
    cpu = Tracking(metric=lambda _, cpu: cpu, target=50.0, bounds=bounds)

    def controller() -> Controller:
        return Both(Stepped(steps), Tracked(cpu))

    return Policy(name="queue-processing", fleet=_fleet(stage), looks=_MINUTELY, controller=controller)


def copilot(stage: SimulatedStage) -> Policy:
    """Return Copilot's worker service: backlog by task, tracked to acceptable latency over mean time, here one."""

    def backlog_per_task(reading: Reading, _cpu: float) -> float:
        return math.ceil(reading.heavy.visible / max(reading.running, 1))

    tracking = Tracking(
        metric=backlog_per_task, target=1.0, bounds=_bounds(stage), out_cooldown_s=60.0, in_cooldown_s=120.0
    )
    return Policy(name="copilot", fleet=_fleet(stage), looks=_MINUTELY, controller=lambda: Tracked(tracking))


def keda(stage: SimulatedStage) -> Policy:
    """Return KEDA's SQS scaler: all messages over a queue length of five, polled each 30 s.

    Between one task and many the Horizontal Pod Autoscaler decides: out at once, in to the highest of five minutes.
    """
    ask = messages_per_task(lambda reading: reading.heavy.total, 5, _bounds(stage).max_capacity)
    return Policy(
        name="keda",
        fleet=_fleet(stage),
        looks=Looks(every_s=30.0, decides_every_s=30.0, scheduled=False),
        controller=lambda: Computed(ask, down_s=300.0),
    )


def fixed(stage: SimulatedStage, tasks: int) -> Policy:
    """Return a fleet of Headway's own workers that never changes its size."""
    heavy = dataclasses.replace(stage.heavy, tasks=tasks)
    fleet = FleetShape(heavy=heavy, fast=stage.fast)
    return Policy(name=f"fixed-{tasks}", fleet=fleet, looks=_MINUTELY, controller=Fixed)


def _fleet(stage: SimulatedStage) -> FleetShape:
    return FleetShape(
        heavy=_heavy(stage),
        fast=None,
        lanes=Lanes.SHARED,
        guard=Guard.COUNTED,
        split=False,
        extends=False,
        leases=False,
    )


def _heavy(stage: SimulatedStage) -> ServiceShape:
    return dataclasses.replace(
        stage.heavy,
        lane=LaneShape(visibility_timeout_s=3_600.0, max_receives=stage.heavy.lane.max_receives),
        concurrency=_CONCURRENCY,
        max_inflight=_MAX_INFLIGHT,
        tasks=1,
        protection_s=3_600.0,
        lazy_below=0,
        publish_every_s=0,
    )


def _bounds(stage: SimulatedStage) -> Target:
    most = max_tasks_within(stage.quota_calls, concurrency=_CONCURRENCY, max_inflight=_MAX_INFLIGHT)
    return Target(min_capacity=1, max_capacity=most)
