"""The scaling math: how many tasks a backlog needs, within the call budget. Pure, standard library only."""

from headway.scaling.backlog import Decision, LaneCounts, Reading
from headway.scaling.budget import in_flight, max_tasks_within
from headway.scaling.plan import ScalingPlan
from headway.scaling.steps import Step, StepsError, check_steps, exact_capacity_steps

__all__ = [
    "Decision",
    "LaneCounts",
    "Reading",
    "ScalingPlan",
    "Step",
    "StepsError",
    "check_steps",
    "exact_capacity_steps",
    "in_flight",
    "max_tasks_within",
]
