"""Can a protection outlive a deployment? CloudFormation gives an update of a service three hours, then rolls back."""

import datetime as dt
from collections.abc import Iterator, Mapping

from headway_ops.deployed import DeployedService
from stacks.settings import StageSettings

#: How long CloudFormation waits for a service (ECS developer guide, "Task scale-in protection": "considerations").
CLOUDFORMATION_S = 3 * 3600


def by_settings(settings: StageSettings) -> Iterator[str]:
    """Yield a line for each lane whose longest piece of work and protection do not fit into a deployment.

    A task that takes its last message as the deployment begins works on it for the time limit; when it dies then, what
    it was last granted still holds.
    """
    for lane, (_queue, service) in settings.consumed_lanes.items():
        longest_s = service.time_limit_s + 60 * service.protection_min
        if service.protection and longest_s >= CLOUDFORMATION_S:
            yield (
                f"{lane}: a task may stay protected for {longest_s} s (time_limit_s + protection_min), "
                f"CloudFormation rolls an update back after {CLOUDFORMATION_S} s"
            )


def waited_for(services: Mapping[str, DeployedService]) -> Iterator[str]:
    """Yield a line for each service with protected tasks: a deployment that begins now waits for them."""
    for where, service in services.items():
        held = [task.protected_until for task in service.tasks if task.protected_until]
        if held:
            yield (
                f"{where}: {len(held)} of {service.running} tasks are protected, the last until "
                f"{max(held):%H:%M:%S} unless it renews: a deployment waits for them"
            )


def by_tasks(services: Mapping[str, DeployedService]) -> Iterator[str]:
    """Yield a line for each service that still waits for protected tasks, with what ends first, and for its breaker."""
    for where, service in services.items():
        old = [task for task in service.tasks if task.protected_until and task.definition_arn != service.serving.arn]
        if old and service.began:
            ends = max(task.protected_until for task in old if task.protected_until)
            gives_up = service.began + dt.timedelta(seconds=CLOUDFORMATION_S)
            late = "after" if ends >= gives_up else "before"
            yield (
                f"{where}: {len(old)} tasks of an old revision are protected until {ends:%H:%M:%S}, {late} "
                f"CloudFormation gives up at {gives_up:%H:%M:%S}"
            )
        if service.failed_tasks and service.rollout == "IN_PROGRESS":
            limit = breaker(service.desired)
            held = f", while {len(old)} protected tasks hold the deployment" if old else ""
            yield f"{where}: {service.failed_tasks} tasks have failed, the circuit breaker rolls back at {limit}{held}"


def breaker(desired: int) -> int:
    """Return how many failed tasks trip the circuit breaker (ECS developer guide, "How the circuit breaker works").

    >>> breaker(1), breaker(25), breaker(500)
    (3, 13, 200)
    """
    return min(max(3, -(-desired // 2)), 200)
