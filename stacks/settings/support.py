"""What the work needs beside it: where jobs come in, are kept and watched over, and who is told of alarms."""

from stacks.settings.frozen import Frozen


class Web(Frozen):
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


class JobStore(Frozen):
    """The PostgreSQL database: imported by its secrets, or created; and the drawings' bucket, likewise by its name."""

    secret_arn: str
    owner_secret_arn: str
    drawings_bucket: str
    min_acu: float
    max_acu: float
    backup_retention_days: int


class Reconciler(Frozen):
    """The watchdog over jobs."""

    idle_limit_s: int
    every_min: int
    silent_alarm_min: int
    cpu_units: int
    memory_mib: int


class Alarms(Frozen):
    """Who is told of alarms, and when calls are limited too often."""

    topic_arn: str
    rate_limited_per_call: float
