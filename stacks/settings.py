"""A stage's settings: frozen, typed and complete; stacks.loading reads them once, and they are passed whole."""

from typing import Literal

import pydantic

from headway.scaling import ScalingPlan


class _Frozen(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", strict=True)


class Lane(_Frozen):
    """One queue and its dead-letter queue; both the queue and its consumer are configured from it."""

    queue_name: str = ""
    visibility_timeout_s: int
    wait_time_s: int
    retention_s: int
    dlq_retention_s: int
    max_receives: int
    max_message_bytes: int
    oldest_alarm_s: int


class Service(_Frozen):
    """One lane's Fargate service and the worker inside it."""

    pool: Literal["prefork", "threads", "solo"]
    cpu_units: int
    memory_mib: int
    concurrency: int
    max_inflight: int
    prefetch: int
    polling_interval_s: float
    lazy_below: int
    lazy_poll_s: float
    lease_beat_s: int
    soft_time_limit_s: int
    time_limit_s: int
    stop_timeout_s: int
    protection: bool
    protection_min: int
    min_tasks: int
    max_tasks: int


class ClassicPolicy(_Frozen):
    """Step changes on waiting messages by running task."""

    out_at_backlog_per_task: list[float]
    out_add_tasks: list[int]
    in_at_backlog_per_task: float
    in_periods: int
    cooldown_s: int


class Scaling(_Frozen):
    """How the heavy fleet follows its backlog."""

    policy: Literal["exact", "classic"]
    publish_every_s: Literal[10, 60]
    out_periods: int
    in_periods: int
    calls_per_job: float
    spare_slots: float
    burst_beta: float
    classic: ClassicPolicy


class Model(_Frozen):
    """The hosted model, its call quota and its prices."""

    base_url: str
    name: str
    quota_calls: int
    timeout_s: int
    input_usd_per_mtok: float
    output_usd_per_mtok: float
    secret_arn: str


class Web(_Frozen):
    """The producer's web service, and who may reach it."""

    cpu_units: int
    memory_mib: int
    tasks: int
    port: int
    max_upload_bytes: int
    max_body_bytes: int
    max_requests: int
    idle_timeout_s: int
    keepalive_s: int
    watch_every_s: float
    session_min: int
    stop_timeout_s: int
    internet_facing: bool
    allowed_cidrs: list[str]
    certificate_arn: str
    token_secret_arn: str


class JobStore(_Frozen):
    """The PostgreSQL database: imported by its secrets, or created; and the drawings' bucket, likewise by its name."""

    secret_arn: str
    owner_secret_arn: str
    drawings_bucket: str
    min_acu: float
    max_acu: float
    backup_retention_days: int


class Reconciler(_Frozen):
    """The watchdog over jobs."""

    idle_limit_s: int
    every_min: int
    silent_alarm_min: int
    cpu_units: int
    memory_mib: int


class Alarms(_Frozen):
    """Who is told of alarms, and when calls are limited too often."""

    topic_arn: str
    rate_limited_per_call: float


class Network(_Frozen):
    """The VPC: imported by its ids, or created."""

    vpc_id: str
    availability_zones: list[str]
    private_subnet_ids: list[str]
    max_azs: int
    nat_gateways: int


class Governance(_Frozen):
    """What an account's owners ask of every stack in it."""

    permissions_boundary_arn: str
    bootstrap_qualifier: str
    tags: dict[str, str]


class Encryption(_Frozen):
    """The KMS key that encrypts messages, drawings, the database and created secrets, or AWS's own keys."""

    key_arn: str


class Cluster(_Frozen):
    """The ECS cluster: imported by name, or created."""

    name: str


class Image(_Frozen):
    """The worker image: imported by digest, or built from runtime/."""

    name: str


class Laptop(_Frozen):
    """What stands in for AWS's and the model's own durations when the stage runs on a laptop."""

    speed: float
    task_start_min_s: float
    task_start_max_s: float
    schedule_min_wall_s: float
    call_min_s: float
    call_max_s: float


class Lanes(_Frozen):
    """Both lanes, by name."""

    heavy: Lane
    fast: Lane


class Services(_Frozen):
    """Both services, by the lane each consumes."""

    heavy: Service
    fast: Service


class StageSettings(_Frozen):
    """Every number of one stage."""

    name: str
    account: str
    region: str
    fast_lane: Literal["off", "ready", "on"]
    termination_protection: bool
    lanes: Lanes
    services: Services
    scaling: Scaling
    model: Model
    web: Web
    job_store: JobStore
    reconciler: Reconciler
    alarms: Alarms
    governance: Governance
    encryption: Encryption
    network: Network
    cluster: Cluster
    image: Image
    laptop: Laptop | None = None

    @property
    def plan(self) -> ScalingPlan:
        """The heavy fleet's scaling plan."""
        heavy = self.services.heavy
        return ScalingPlan(
            concurrency=heavy.concurrency,
            max_inflight=heavy.max_inflight,
            quota_calls=self.model.quota_calls,
            min_tasks=heavy.min_tasks,
            max_tasks=heavy.max_tasks,
            calls_per_job=self.scaling.calls_per_job,
            spare_slots=self.scaling.spare_slots,
            burst_beta=self.scaling.burst_beta,
        )

    @property
    def consumed_lanes(self) -> dict[str, tuple[Lane, Service]]:
        """The lanes that exist in this stage, each with the service that consumes it."""
        heavy = {"heavy": (self.lanes.heavy, self.services.heavy)}
        return heavy if self.fast_lane == "off" else {**heavy, "fast": (self.lanes.fast, self.services.fast)}


class PipelineSettings(_Frozen):
    """What promotes a repository's branch through the stages; ``approve`` are those that a person lets begin.

    ``account`` and ``region`` are where the pipeline itself is. Roles are names of roles in each stage's own account:
    ``verify_role`` verifies it, empty: the bootstrap's lookup role, which may read, and sends nothing through;
    ``deploy_role`` is what a GitHub workflow takes on to deploy and to verify.
    """

    repository: str
    branch: str = "main"
    connection_arn: str
    account: str
    region: str
    stages: list[str]
    approve: list[str] = []
    verify_role: str = ""
    deploy_role: str = "headway-deploy"
