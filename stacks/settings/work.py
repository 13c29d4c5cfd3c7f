"""The work itself: its two lanes, the services that consume them, the model they call, and how the fleet follows."""

from typing import Literal

from stacks.settings.frozen import Frozen


class Lane(Frozen):
    """One queue and its dead-letter queue; both the queue and its consumer are configured from it."""

    queue_name: str = ""
    visibility_timeout_s: int
    wait_time_s: int
    retention_s: int
    dlq_retention_s: int
    max_receives: int
    max_message_bytes: int
    oldest_alarm_s: int


class Lanes(Frozen):
    """Both lanes, by name."""

    heavy: Lane
    fast: Lane


class Service(Frozen):
    """One lane's Fargate service and the worker inside it."""

    pool: Literal["prefork", "threads", "solo"]
    cpu_units: int
    memory_mib: int
    concurrency: int
    max_inflight: int
    prefetch: int
    polling_interval_s: float
    lazy_below: int
    lazy_after_s: float
    lazy_poll_s: float
    lease_beat_s: int
    soft_time_limit_s: int
    time_limit_s: int
    stop_timeout_s: int
    protection: bool
    protection_min: int
    min_tasks: int
    max_tasks: int


class Services(Frozen):
    """Both services, by the lane each consumes."""

    heavy: Service
    fast: Service


class Model(Frozen):
    """The hosted model, its call quota and its prices."""

    base_url: str
    name: str
    quota_calls: int
    timeout_s: int
    input_usd_per_mtok: float
    output_usd_per_mtok: float
    secret_arn: str


class ClassicPolicy(Frozen):
    """Step changes on waiting messages by running task."""

    out_at_backlog_per_task: list[float]
    out_add_tasks: list[int]
    in_at_backlog_per_task: float
    in_periods: int
    cooldown_s: int


class Scaling(Frozen):
    """How the heavy fleet follows its backlog."""

    policy: Literal["exact", "classic"]
    publish_every_s: Literal[10, 60]
    out_periods: int
    in_periods: int
    calls_per_job: float
    spare_slots: float
    burst_beta: float
    classic: ClassicPolicy
