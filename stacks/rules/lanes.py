"""Lanes: the bounds of SQS, and the lease that a worker keeps on a message."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stacks.rules.problem import Problem, within

if TYPE_CHECKING:
    from stacks.settings import Lane, Service

#: Queue names: SQS CreateQueue, "up to 80 characters; alphanumeric, hyphens, underscores". Kombu rewrites any other.
_QUEUE_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")


def lane_problems(path: str, lane: "Lane") -> Iterator[Problem]:
    """Yield what is wrong with one lane."""
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
    yield from within(f"{path}.visibility_timeout_s", lane.visibility_timeout_s, 30, 3_600, "extended while work lives")
    if lane.wait_time_s == 0:
        yield Problem(field=f"{path}.wait_time_s", value=0, bound="is short polling", fix="set 20")
    yield from within(f"{path}.wait_time_s", lane.wait_time_s, 1, 20)
    yield from within(f"{path}.retention_s", lane.retention_s, 60, 1_209_600)
    yield from within(f"{path}.dlq_retention_s", lane.dlq_retention_s, 60, 1_209_600)
    if lane.dlq_retention_s <= lane.retention_s:
        yield Problem(
            field=f"{path}.dlq_retention_s",
            value=lane.dlq_retention_s,
            bound=f"must exceed retention_s = {lane.retention_s}, or the evidence expires first",
            fix="set 1209600",
        )
    yield from within(f"{path}.max_receives", lane.max_receives, 4, 1_000, "a hand-back costs one receive")
    yield from within(f"{path}.max_message_bytes", lane.max_message_bytes, 1_024, 1_048_576)


def lease_problems(path: str, lane: "Lane", service: "Service") -> Iterator[Problem]:
    """Yield what is wrong between a lane and its worker's lease."""
    if service.lease_beat_s < 1 or service.lease_beat_s * 2 > lane.visibility_timeout_s:
        yield Problem(
            field=f"{path}.lease_beat_s",
            value=service.lease_beat_s,
            bound=f"must be 1..{lane.visibility_timeout_s // 2}, half of visibility_timeout_s: one beat may be late",
            fix=f"set {lane.visibility_timeout_s // 3}",
        )
