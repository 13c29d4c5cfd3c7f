"""Which settings contradict AWS, the broker, or each other? Each rule yields its problems: field, value, bound, fix."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stacks.rules.alarms import alarm_problems
from stacks.rules.governance import governance_problems
from stacks.rules.lanes import lane_problems, lease_problems
from stacks.rules.problem import Problem
from stacks.rules.reconciler import reconciler_problems
from stacks.rules.scaling import scaling_problems
from stacks.rules.services import budget_problems, service_problems
from stacks.rules.stage import import_problems, laptop_problems, model_problems
from stacks.rules.web import web_problems

if TYPE_CHECKING:
    from stacks.settings import StageSettings

__all__ = ["Problem", "problems"]


def problems(stage: "StageSettings") -> Iterator[Problem]:
    """Yield every problem of a stage, in the order a reader would mend them."""
    for name in ("heavy", "fast"):
        lane, service = getattr(stage.lanes, name), getattr(stage.services, name)
        yield from lane_problems(f"lanes.{name}", lane)
        yield from service_problems(f"services.{name}", service)
        yield from lease_problems(f"services.{name}", lane, service)
    yield from budget_problems(stage)
    yield from scaling_problems(stage)
    yield from model_problems(stage)
    yield from reconciler_problems(stage)
    yield from alarm_problems(stage)
    yield from web_problems(stage)
    yield from governance_problems(stage)
    yield from import_problems(stage)
    yield from laptop_problems(stage)
