"""Which settings contradict AWS, the broker, or each other? Each rule yields its problems: field, value, bound, fix."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headway.scaling import StepsError, check_steps, in_flight, max_tasks_within
from headway.scaling.classic import change_in_capacity_steps

if TYPE_CHECKING:
    from stacks.settings import Lane, Service, StageSettings

#: Queue names: SQS CreateQueue, "up to 80 characters; alphanumeric, hyphens, underscores". Kombu rewrites any other.
_QUEUE_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")
#: An image by digest, so that what was tested is what runs.
_DIGEST = re.compile(r".+@sha256:[0-9a-f]{64}")
#: ECS UpdateTaskProtection takes at most 2,880 min; CloudFormation gives up on a deployment after 3 h.
_PROTECTION_LIMIT_MIN = 180
#: Fargate's longest stopTimeout (ECS ContainerDefinition).
_STOP_TIMEOUT_LIMIT_S = 120


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One setting that cannot be used: what it is, the bound it breaks, and what to set instead."""

    field: str
    value: Any
    bound: str
    fix: str


def problems(stage: "StageSettings") -> Iterator[Problem]:
    """Yield every problem of a stage, in the order a reader would mend them."""
    for name in ("heavy", "fast"):
        lane, service = getattr(stage.lanes, name), getattr(stage.services, name)
        yield from _lane(f"lanes.{name}", lane)
        yield from _service(f"services.{name}", service)
        yield from _lease(f"services.{name}", lane, service)
    yield from _budget(stage)
    yield from _scaling(stage)
    yield from _model(stage)
    yield from _imports(stage)
    yield from _laptop(stage)


def _within(field: str, value: float, low: float, high: float, why: str = "") -> Iterator[Problem]:
    if not low <= value <= high:
        bound = f"must be {low:,}..{high:,}".replace(",", "_") + (f" ({why})" if why else "")
        yield Problem(field=field, value=value, bound=bound, fix=f"set {low if value < low else high}")


def _lane(path: str, lane: "Lane") -> Iterator[Problem]:
    if lane.queue_name.endswith(".fifo"):
        yield Problem(
            field=f"{path}.queue_name",
            value=lane.queue_name,
            bound="standard queues only, a FIFO queue's throughput ceiling is a new bottleneck",
            fix="drop .fifo",
        )
    elif lane.queue_name and not _QUEUE_NAME.fullmatch(lane.queue_name):
        yield Problem(
            field=f"{path}.queue_name", value=lane.queue_name, bound="must be 1..80 of A-Za-z0-9_-", fix="rename it"
        )
    # Bounds: SQS SetQueueAttributes.
    yield from _within(
        f"{path}.visibility_timeout_s", lane.visibility_timeout_s, 30, 3_600, "extended while work lives"
    )
    if lane.wait_time_s == 0:
        yield Problem(field=f"{path}.wait_time_s", value=0, bound="is short polling", fix="set 20")
    yield from _within(f"{path}.wait_time_s", lane.wait_time_s, 1, 20)
    yield from _within(f"{path}.retention_s", lane.retention_s, 60, 1_209_600)
    yield from _within(f"{path}.dlq_retention_s", lane.dlq_retention_s, 60, 1_209_600)
    if lane.dlq_retention_s <= lane.retention_s:
        yield Problem(
            field=f"{path}.dlq_retention_s",
            value=lane.dlq_retention_s,
            bound=f"must exceed retention_s = {lane.retention_s}, or the evidence expires first",
            fix="set 1209600",
        )
    yield from _within(f"{path}.max_receives", lane.max_receives, 4, 1_000, "a hand-back costs one receive")
    yield from _within(f"{path}.max_message_bytes", lane.max_message_bytes, 1_024, 1_048_576)


def _service(path: str, service: "Service") -> Iterator[Problem]:
    if service.prefetch != 1:
        yield Problem(
            field=f"{path}.prefetch",
            value=service.prefetch,
            bound="must be 1, waiting messages age against their visibility timeout",
            fix="set 1",
        )
    yield from _within(f"{path}.concurrency", service.concurrency, 1, 256)
    yield from _within(f"{path}.max_inflight", service.max_inflight, 1, 64)
    yield from _within(f"{path}.polling_interval_s", service.polling_interval_s, 0.01, 1.0)
    yield from _within(
        f"{path}.stop_timeout_s", service.stop_timeout_s, 30, _STOP_TIMEOUT_LIMIT_S, "Fargate maximum 120"
    )
    yield from _within(f"{path}.protection_min", service.protection_min, 1, 2_880)
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
    yield from _within(f"{path}.time_limit_s", service.time_limit_s, 1, 39_600, "SQS hides a message 12 h at most")
    yield from _within(f"{path}.min_tasks", service.min_tasks, 1, 1_000)
    if service.max_tasks and service.min_tasks > service.max_tasks:
        yield Problem(
            field=f"{path}.min_tasks",
            value=service.min_tasks,
            bound=f"must not exceed max_tasks = {service.max_tasks}",
            fix=f"set {service.max_tasks} or less",
        )


def _lease(path: str, lane: "Lane", service: "Service") -> Iterator[Problem]:
    if service.lease_beat_s < 1 or service.lease_beat_s * 2 > lane.visibility_timeout_s:
        yield Problem(
            field=f"{path}.lease_beat_s",
            value=service.lease_beat_s,
            bound=f"must be 1..{lane.visibility_timeout_s // 2}, half of visibility_timeout_s: one beat may be late",
            fix=f"set {lane.visibility_timeout_s // 3}",
        )


def _budget(stage: "StageSettings") -> Iterator[Problem]:
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


def _scaling(stage: "StageSettings") -> Iterator[Problem]:
    scaling, classic = stage.scaling, stage.scaling.classic
    for name in ("calls_per_job", "spare_slots", "burst_beta"):
        yield from _within(f"scaling.{name}", getattr(scaling, name), 0.0, 1_000.0)
    yield from _within("scaling.out_periods", scaling.out_periods, 1, 10)
    yield from _within("scaling.in_periods", scaling.in_periods, 2, 60, "counts may be stale for a minute")
    yield from _within("scaling.classic.cooldown_s", classic.cooldown_s, 0, 3_600)
    out_at, add = classic.out_at_backlog_per_task, classic.out_add_tasks
    if len(out_at) != len(add):
        yield Problem(
            field="scaling.classic.out_add_tasks",
            value=add,
            bound=f"must have one entry for each of out_at_backlog_per_task's {len(out_at)}",
            fix="make them equally long",
        )
        return
    try:
        check_steps(change_in_capacity_steps(out_at, add) if out_at else ())
    except StepsError as error:
        yield Problem(
            field="scaling.classic.out_at_backlog_per_task",
            value=out_at,
            bound=str(error),
            fix="list 1..20 rising thresholds",
        )
        return
    if classic.in_at_backlog_per_task >= out_at[0]:
        yield Problem(
            field="scaling.classic.in_at_backlog_per_task",
            value=classic.in_at_backlog_per_task,
            bound=f"must be under out_at_backlog_per_task[0] = {out_at[0]}, or it would oscillate",
            fix="lower it",
        )


def _model(stage: "StageSettings") -> Iterator[Problem]:
    heavy, model = stage.services.heavy, stage.model
    if not 1 <= model.timeout_s < heavy.soft_time_limit_s:
        yield Problem(
            field="model.timeout_s",
            value=model.timeout_s,
            bound=f"must be 1.., under services.heavy.soft_time_limit_s = {heavy.soft_time_limit_s}",
            fix=f"set {heavy.soft_time_limit_s - 300}",
        )
    for name in ("input_usd_per_mtok", "output_usd_per_mtok"):
        yield from _within(f"model.{name}", getattr(model, name), 0.0, 10_000.0)


def _imports(stage: "StageSettings") -> Iterator[Problem]:
    if stage.image.name and not _DIGEST.fullmatch(stage.image.name):
        yield Problem(field="image.name", value=stage.image.name, bound="a tag can move", fix="pin name@sha256:digest")
    network = stage.network
    if network.vpc_id and not (network.availability_zones and network.private_subnet_ids):
        yield Problem(
            field="network.vpc_id",
            value=network.vpc_id,
            bound="an imported VPC needs availability_zones and private_subnet_ids",
            fix="list them, one subnet a zone",
        )
    yield from _within("network.max_azs", network.max_azs, 2, 6)
    yield from _within("network.nat_gateways", network.nat_gateways, 0, network.max_azs)
    store = stage.job_store
    if store.min_acu > store.max_acu:
        yield Problem(
            field="job_store.min_acu",
            value=store.min_acu,
            bound=f"must not exceed max_acu = {store.max_acu}",
            fix="lower it",
        )
    yield from _within("job_store.max_acu", store.max_acu, 1.0, 256.0)
    yield from _within("job_store.backup_retention_days", store.backup_retention_days, 1, 35)


def _laptop(stage: "StageSettings") -> Iterator[Problem]:
    laptop = stage.laptop
    if laptop is None:
        return
    yield from _within("laptop.speed", laptop.speed, 1.0, 600.0)
    for low, high in (("task_start_min_s", "task_start_max_s"), ("call_min_s", "call_max_s")):
        if not 0 <= getattr(laptop, low) <= getattr(laptop, high):
            yield Problem(
                field=f"laptop.{low}",
                value=getattr(laptop, low),
                bound=f"must be 0..{high} = {getattr(laptop, high)}",
                fix="lower it",
            )
