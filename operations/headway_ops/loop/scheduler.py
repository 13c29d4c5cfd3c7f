"""What does the ECS service scheduler start and stop?

Modelled from the ECS developer guide: a service keeps its desired count; a scale-in stops only unprotected tasks; a
rolling deployment starts new tasks up to maximumPercent and stops old ones down to minimumHealthyPercent, and while it
runs nothing is scaled in.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

#: "The maximum amount of time between service restarts" (ECS developer guide, "Service throttle logic").
MAX_THROTTLE_S = 27 * 60.0
_FIRST_THROTTLE_S = 10.0


class TaskState(StrEnum):
    """The states of a task that matter to the scheduler."""

    STARTING = "STARTING"
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task as the scheduler sees it; ``revision`` is its task definition."""

    id: str
    revision: str
    state: TaskState
    started: float


@dataclass(frozen=True, kw_only=True)
class Service:
    """One service as the scheduler sees it."""

    desired: int
    revision: str
    min_healthy_percent: int = 100
    max_percent: int = 200


@dataclass(frozen=True, kw_only=True)
class Start:
    """Start ``count`` tasks of ``revision``."""

    revision: str
    count: int


@dataclass(frozen=True, kw_only=True)
class Stop:
    """Stop one task."""

    task: str
    reason: str


def schedule(service: Service, tasks: Sequence[Task], protected: Callable[[str], bool]) -> list[Start | Stop]:
    """Return what brings the service nearer to its desired count and task definition; empty when it is there."""
    alive = [task for task in tasks if task.state is not TaskState.STOPPING]
    current = [task for task in alive if task.revision == service.revision]
    old = [task for task in alive if task.revision != service.revision]
    if old:
        return _deploy(service, current, old, protected)
    if len(current) < service.desired:
        return [Start(revision=service.revision, count=service.desired - len(current))]
    surplus = len(current) - service.desired
    return [Stop(task=task.id, reason="scale in") for task in _victims(current, protected)[:surplus]]


def throttle_s(failures: int) -> float:
    """Return how long a service waits before it replaces a task, after tasks that ended by themselves in a row.

    The guide gives the limit; that the delay doubles from ten seconds is this model's.
    """
    return min(_FIRST_THROTTLE_S * 2 ** (failures - 1), MAX_THROTTLE_S) if failures else 0.0


def _deploy(
    service: Service, current: Sequence[Task], old: Sequence[Task], protected: Callable[[str], bool]
) -> list[Start | Stop]:
    room = service.desired * service.max_percent // 100 - len(current) - len(old)
    start = min(service.desired - len(current), room)
    actions: list[Start | Stop] = [Start(revision=service.revision, count=start)] if start > 0 else []
    healthy_floor = -(-service.desired * service.min_healthy_percent // 100)
    running = sum(task.state is TaskState.RUNNING for task in (*current, *old))
    for task in _victims(old, protected):
        healthy = task.state is TaskState.RUNNING
        if healthy and running <= healthy_floor:
            continue
        running -= healthy
        actions.append(Stop(task=task.id, reason="replaced by a deployment"))
    return actions


def _victims(tasks: Sequence[Task], protected: Callable[[str], bool]) -> list[Task]:
    """Unprotected tasks, those not yet running first, then the newest.

    Which of several unprotected tasks ECS stops on Fargate is not documented beyond balancing zones.
    """
    free = [task for task in tasks if not protected(task.id)]
    return sorted(free, key=lambda task: (task.state is TaskState.RUNNING, -task.started))
