"""The control loop, modelled once: alarms, step scaling, the service scheduler, task protection.

Pure classes on an injected clock (stage seconds): the local stage drives them with wall time, a simulator with
virtual time. Nothing here sleeps, reads or writes.
"""

from headway_ops.loop.alarms import AlarmSpec, AlarmState, MetricKey, TreatMissing, evaluate
from headway_ops.loop.control import ControlLoop, Event
from headway_ops.loop.policy import Adjustment, StepPolicy, Target
from headway_ops.loop.protection import Protections, Refusal
from headway_ops.loop.scheduler import Service, Start, Stop, Task, TaskState, schedule, throttle_s
from headway_ops.loop.series import Series

__all__ = [
    "Adjustment",
    "AlarmSpec",
    "AlarmState",
    "ControlLoop",
    "Event",
    "MetricKey",
    "Protections",
    "Refusal",
    "Series",
    "Service",
    "Start",
    "StepPolicy",
    "Stop",
    "Target",
    "Task",
    "TaskState",
    "TreatMissing",
    "evaluate",
    "schedule",
    "throttle_s",
]
