"""What no fleet can beat, in the same engine: the clairvoyant bound and the oracle without any delay."""

import dataclasses
import math

from headway.scaling import Reading
from headway_ops.simulate.conditions import Conditions
from headway_ops.simulate.policies.direct import Computed, Fixed
from headway_ops.simulate.policies.policy import Looks, Policy
from headway_ops.simulate.shape import FleetShape, Guard
from headway_ops.simulate.stage import SimulatedStage

_FAST_SLOTS = 100_000
#: The oracle looks each second; a finer look moves its waits by less than a second.
_LOOKS = Looks(every_s=1.0, decides_every_s=1.0, scheduled=False)


def clairvoyant(stage: SimulatedStage) -> Policy:
    """Return G: every call of the quota is there at once and costs only while it works, first come, first served.

    As one task with a slot for each call; its task-hours are its call-hours by slots a task (``Outcome.call_h``).
    """
    heavy = dataclasses.replace(
        stage.heavy,
        concurrency=stage.quota_calls,
        max_inflight=1,
        tasks=1,
        polling_interval_s=0.0,
        protection_s=0.0,
        lazy_below=0,
        publish_every_s=0,
    )
    fast = dataclasses.replace(heavy, concurrency=_FAST_SLOTS)
    fleet = FleetShape(heavy=heavy, fast=fast, guard=Guard.NONE)
    looks = Looks(every_s=60.0, decides_every_s=60.0, scheduled=False)
    return Policy(name="clairvoyant", fleet=fleet, looks=looks, controller=Fixed, under=_without_delay)


def oracle(stage: SimulatedStage) -> Policy:
    """Return G2: whole tasks that start at once, sized each second by true counts, without any spare."""
    plan, slots = stage.scaling.plan, stage.heavy.concurrency

    def need(reading: Reading) -> int:
        asked = min(max(math.ceil(reading.heavy.total / slots), plan.min_tasks), plan.cap)
        return max(asked, min(reading.protected, reading.desired))

    heavy = dataclasses.replace(stage.heavy, polling_interval_s=0.0, publish_every_s=0)
    fast = stage.fast and dataclasses.replace(stage.fast, polling_interval_s=0.0)
    fleet = FleetShape(heavy=heavy, fast=fast)
    return Policy(name="oracle", fleet=fleet, looks=_LOOKS, controller=lambda: Computed(need), under=_without_delay)


def _without_delay(conditions: Conditions) -> Conditions:
    at_once = (0.0, 0.0)
    return dataclasses.replace(
        conditions,
        task_start_s=at_once,
        launch_burst=1_000_000,
        task_exit_s=0.0,
        schedule_delay_s=at_once,
        count_lag_s=at_once,
        stale_chance=0.0,
        pickup_s=at_once,
        protect_s=at_once,
    )
