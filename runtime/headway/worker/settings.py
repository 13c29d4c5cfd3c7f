"""The Celery settings of a worker, each with its reason. Durations become wall seconds here."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from headway.clock import StageClock
from headway.contract import ContractError, WorkerEnv
from headway.producer.broker import sender_settings
from headway.producer.routing import aliased

#: gevent and eventlet poll lanes in sequence, and lose jobs when they are stopped.
POOLS = ("prefork", "threads", "solo")

#: Where a stage runs faster than the clock, these wall seconds are kept all the same: a busy laptop can hold a process
#: up for seconds, and neither a lease nor a limit may lapse for that.
MIN_VISIBILITY_S = 6
MIN_BEAT_S = 1.0
MIN_SOFT_LIMIT_S = 20.0
MIN_LIMIT_S = 25.0


def visibility_s(env: WorkerEnv, clock: StageClock) -> int:
    """Return the visibility timeout that a held message is extended to, and a claim's lease, wall seconds."""
    return math.ceil(clock.wall(env.visibility_timeout_s, at_least=min(env.visibility_timeout_s, MIN_VISIBILITY_S)))


def beat_s(env: WorkerEnv, clock: StageClock) -> float:
    """Return the wall seconds between two extensions."""
    return clock.wall(env.lease_beat_s, at_least=MIN_BEAT_S)


def soft_limit_s(env: WorkerEnv, clock: StageClock) -> float:
    """Return the wall seconds after which a task is interrupted."""
    return clock.wall(env.soft_time_limit_s, at_least=min(env.soft_time_limit_s, MIN_SOFT_LIMIT_S))


def hard_limit_s(env: WorkerEnv, clock: StageClock) -> float:
    """Return the wall seconds after which a task's process is killed."""
    return clock.wall(env.time_limit_s, at_least=min(env.time_limit_s, MIN_LIMIT_S))


def worker_settings(env: WorkerEnv, clock: StageClock) -> Mapping[str, Any]:
    """Return the settings.

    Raises:
        ContractError: the pool or the lane cannot be used.
    """
    if env.pool not in POOLS:
        raise ContractError(f"HEADWAY_POOL = {env.pool!r}: must be one of {', '.join(POOLS)}")
    if env.lane not in env.queue_urls:
        raise ContractError(f"HEADWAY_LANE = {env.lane!r}: no such lane in HEADWAY_QUEUE_URLS")
    lanes = aliased(env.queue_urls, env.fast_queue, main_lane=env.main_lane)
    sender = sender_settings(
        dataclasses.replace(env, queue_urls=lanes.urls), connect_timeout_s=3, read_timeout_s=5, attempts=2
    )
    options = {
        **sender["broker_transport_options"],
        "wait_time_seconds": env.wait_time_s,
        # Full slots are looked at this often; Kombu's default of 1 s idles them.
        "polling_interval": env.polling_interval_s,
        "lazy_below": env.lazy_below,
        "lazy_after_s": clock.wall(env.lazy_after_s),
        "lazy_poll_s": clock.wall(env.lazy_poll_s),
        "dead_letters": {env.queue_urls[lane]: url for lane, url in env.dead_letter_urls.items()},
    }
    return {
        **sender,
        "broker_transport": "headway.worker.transport:Transport",
        "broker_transport_options": options,
        "broker_connection_retry_on_startup": True,
        "worker_consumer": "headway.worker.consumer:Consumer",
        # A message is acknowledged when its work is done, and comes back when its process dies.
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        # What fails unforeseen is delivered again, and ends in the dead-letter queue.
        "task_acks_on_failure": False,
        "task_acks_on_timeout": False,
        # Above 1, messages wait inside a worker while their visibility timeout runs.
        "worker_prefetch_multiplier": env.prefetch,
        "task_soft_time_limit": soft_limit_s(env, clock),
        "task_time_limit": hard_limit_s(env, clock),
        # SQS has no fanout, so these could only fail (celery.worker.consumer.control).
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        # A metric line must reach the log as it was written.
        "worker_redirect_stdouts": False,
        "worker_hijack_root_logger": False,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
    }
