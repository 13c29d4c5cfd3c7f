"""What does each kind of process find in its environment?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headway.contract.environment import Environment, given, variable


@dataclass(frozen=True, kw_only=True)
class BrokerEnv(Environment):
    """The lanes, for anything that sends to them or reads from them. Lane names map to queue URLs."""

    stage: str
    region: str
    queue_urls: Mapping[str, str]
    main_lane: str = "heavy"
    metric_namespace: str = "Headway"
    #: Stage seconds in a wall second. Only the local stage sets it; a deployed stage runs in true time.
    speed: float = given("HEADWAY_SPEED", 1.0)


@dataclass(frozen=True, kw_only=True)
class ProducerEnv(BrokerEnv):
    """What a sender needs. ``fast_queue`` is the rollout switch: a lane name, or empty for the main lane."""

    drawings_bucket: str
    fast_queue: str = variable("FAST_QUEUE", "")


@dataclass(frozen=True, kw_only=True)
class WebEnv(ProducerEnv):
    """What the web service needs; sizes are bytes of a request's body.

    ``watch_every_s`` is stage time; what bounds a connection or a session is wall time, as a person's patience is.
    ``https``: browsers reach it over TLS, so its cookies are marked as secure.
    """

    port: int
    https: bool
    max_upload_bytes: int
    max_body_bytes: int
    max_requests: int
    idle_timeout_s: int
    keepalive_s: int
    watch_every_s: float
    session_min: int
    stop_timeout_s: int
    #: host:port to listen on, where the surroundings give one; empty: ``port`` at every address of the container.
    bind: str = given("HEADWAY_BIND", "")


@dataclass(frozen=True, kw_only=True)
class WorkerEnv(ProducerEnv):
    """What a worker needs; durations are stage time, in the unit each name carries.

    ``dead_letter_urls`` maps lane names to the URLs of their dead-letter queues, for messages that can never run.
    """

    lane: str
    dead_letter_urls: Mapping[str, str]
    pool: str = "prefork"
    concurrency: int
    prefetch: int = 1
    max_inflight: int = 1
    wait_time_s: int = 20
    polling_interval_s: float = 0.1
    #: A worker that holds fewer messages, or has received none for ``lazy_after_s``, leaves what comes to others, and
    #: looks only each ``lazy_poll_s`` (`headway.scaling.packing`); never where ``lazy_below`` is 0.
    lazy_below: int = 0
    lazy_after_s: float = 400.0
    lazy_poll_s: float = 2.0
    visibility_timeout_s: int
    lease_beat_s: int
    soft_time_limit_s: int
    time_limit_s: int
    stop_timeout_s: int = 120
    protection: bool
    protection_min: int
    #: How often the fleet is counted for its scaling; an idle worker takes no work while that goes on.
    publish_every_s: int = 60
    model_base_url: str
    model_name: str
    model_timeout_s: int
    #: The calls that all tasks of the stage together may have in flight.
    quota_calls: int
    model_input_usd_per_mtok: float
    model_output_usd_per_mtok: float
    #: Set by the container's runtime: which container this is.
    host: str = given("HOSTNAME", "")
    #: Set by the ECS agent itself in every task of a service; never by the task definition.
    agent_uri: str = given("ECS_AGENT_URI", "")


@dataclass(frozen=True, kw_only=True)
class PublisherEnv(BrokerEnv):
    """What the metric publisher needs; ``plan`` is a ScalingPlan as a mapping of numbers."""

    cluster: str
    service: str
    plan: Mapping[str, Any]
    publish_every_s: int


@dataclass(frozen=True, kw_only=True)
class ReconcilerEnv(BrokerEnv):
    """What the reconciler needs; durations are stage seconds.

    ``idle_limit_s`` without a sign of life end a job; ``lease_s`` is the longest that a message stays hidden without
    one. ``fast_queue`` is the rollout switch, as for every sender.
    """

    dead_letter_urls: Mapping[str, str]
    fast_queue: str = variable("FAST_QUEUE", "")
    idle_limit_s: int
    lease_s: int


@dataclass(frozen=True, kw_only=True)
class MigrationEnv(Environment):
    """What the job store's migration needs beside its secrets: nothing."""
