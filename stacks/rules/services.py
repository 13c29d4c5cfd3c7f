"""Services: the bounds of Fargate and ECS, and the call quota that caps the fleet."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from headway.scaling import in_flight, max_tasks_within
from stacks.rules.problem import Problem, within

if TYPE_CHECKING:
    from stacks.settings import Service, StageSettings

#: ECS UpdateTaskProtection takes at most 2,880 min; CloudFormation gives up on a deployment after 3 h.
_PROTECTION_LIMIT_MIN = 180
#: Fargate's longest stopTimeout (ECS ContainerDefinition).
_STOP_TIMEOUT_LIMIT_S = 120


def service_problems(path: str, service: "Service") -> Iterator[Problem]:
    """Yield what is wrong with one service."""
    if service.prefetch != 1:
        yield Problem(
            field=f"{path}.prefetch",
            value=service.prefetch,
            bound="must be 1, waiting messages age against their visibility timeout",
            fix="set 1",
        )
    yield from within(f"{path}.concurrency", service.concurrency, 1, 256)
    yield from within(f"{path}.max_inflight", service.max_inflight, 1, 64)
    yield from within(f"{path}.polling_interval_s", service.polling_interval_s, 0.01, 1.0)
    yield from within(f"{path}.lazy_below", service.lazy_below, 0, service.concurrency)
    yield from within(f"{path}.lazy_after_s", service.lazy_after_s, 30.0, 43_200.0)
    yield from within(f"{path}.lazy_poll_s", service.lazy_poll_s, 0.5, 60.0)
    yield from within(
        f"{path}.stop_timeout_s", service.stop_timeout_s, 30, _STOP_TIMEOUT_LIMIT_S, "Fargate maximum 120"
    )
    yield from within(f"{path}.protection_min", service.protection_min, 1, 2_880)
    if service.protection_min >= _PROTECTION_LIMIT_MIN:
        yield Problem(
            field=f"{path}.protection_min",
            value=service.protection_min,
            bound="must be under 180, CloudFormation gives up on a deployment after 3 h",
            fix="set 30; it is renewed while work lives",
        )
    if service.soft_time_limit_s >= service.time_limit_s:
        yield Problem(
            field=f"{path}.soft_time_limit_s",
            value=service.soft_time_limit_s,
            bound=f"must be under time_limit_s = {service.time_limit_s}",
            fix=f"set {service.time_limit_s - 60}",
        )
    # SQS hides a message for 12 h at most, counted from its receive.
    yield from within(f"{path}.time_limit_s", service.time_limit_s, 1, 39_600, "SQS hides a message 12 h at most")
    # A person waits for the fast lane, and nothing scales it.
    yield from within(f"{path}.min_tasks", service.min_tasks, 1 if path.endswith("fast") else 0, 1_000)
    if service.max_tasks and service.min_tasks > service.max_tasks:
        yield Problem(
            field=f"{path}.min_tasks",
            value=service.min_tasks,
            bound=f"must not exceed max_tasks = {service.max_tasks}",
            fix=f"set {service.max_tasks} or less",
        )


def budget_problems(stage: "StageSettings") -> Iterator[Problem]:
    """Yield where the heavy fleet does not fit the call quota."""
    heavy, quota = stage.services.heavy, stage.model.quota_calls
    allowed = max_tasks_within(quota, concurrency=heavy.concurrency, max_inflight=heavy.max_inflight)
    product = f"{heavy.concurrency} x {heavy.max_inflight}"
    if allowed < 1:
        yield Problem(
            field="model.quota_calls",
            value=quota,
            bound=f"one task makes concurrency x max_inflight = {product} calls",
            fix="raise the quota or lower services.heavy.concurrency",
        )
    elif heavy.max_tasks > allowed:
        calls = in_flight(tasks=heavy.max_tasks, concurrency=heavy.concurrency, max_inflight=heavy.max_inflight)
        yield Problem(
            field="services.heavy.max_tasks",
            value=heavy.max_tasks,
            bound=f"{heavy.max_tasks} x {product} = {calls} > model.quota_calls = {quota}",
            fix=f"set {allowed} or less, or 0 for what the quota allows",
        )
    elif heavy.min_tasks > allowed:
        yield Problem(
            field="services.heavy.min_tasks",
            value=heavy.min_tasks,
            bound=f"must not exceed quota_calls // (concurrency x max_inflight) = {allowed}",
            fix=f"set {allowed} or less",
        )
