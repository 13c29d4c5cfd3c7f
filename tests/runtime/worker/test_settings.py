"""The effective Celery settings, and the stage's durations in wall seconds."""

import dataclasses
import doctest
from typing import Any

import pytest

from headway.clock import StageClock
from headway.contract import ContractError, WorkerEnv
from headway.worker import shutdown
from headway.worker.settings import beat_s, visibility_s, worker_settings

_ENV = WorkerEnv(
    stage="test",
    region="eu-west-1",
    queue_urls={"heavy": "https://sqs/heavy", "fast": "https://sqs/fast"},
    dead_letter_urls={"heavy": "https://sqs/heavy-dead"},
    drawings_bucket="drawings",
    lane="heavy",
    concurrency=8,
    visibility_timeout_s=120,
    lease_beat_s=40,
    soft_time_limit_s=2_400,
    time_limit_s=2_460,
    protection=True,
    protection_min=30,
    model_base_url="http://model/v1",
    model_name="m",
    model_timeout_s=2_100,
    quota_calls=24,
    model_input_usd_per_mtok=1.0,
    model_output_usd_per_mtok=2.0,
)


def _settings(speed: float = 1.0, **values: Any) -> Any:
    return worker_settings(dataclasses.replace(_ENV, **values), StageClock(speed))


def test_a_message_is_kept_until_its_work_is_done() -> None:
    """The settings that decide whether a message can be lost."""
    settings = _settings()
    assert settings["task_acks_late"] is True
    assert settings["task_reject_on_worker_lost"] is True
    assert settings["task_acks_on_failure"] is False
    assert settings["task_acks_on_timeout"] is False
    assert settings["worker_prefetch_multiplier"] == 1
    assert settings["result_backend"] is None


def test_both_lanes_are_known_and_none_is_created() -> None:
    """Whichever of them this worker consumes."""
    options = _settings()["broker_transport_options"]
    assert set(options["predefined_queues"]) == {"heavy", "fast"}
    assert options["dead_letters"] == {"https://sqs/heavy": "https://sqs/heavy-dead"}
    assert (options["wait_time_seconds"], options["polling_interval"], options["region"]) == (20, 0.1, "eu-west-1")
    assert _settings()["task_create_missing_queues"] is False


def test_durations_become_wall_seconds() -> None:
    """At 60 times true time; the poll's own are wall time already."""
    settings = _settings(speed=60.0)
    assert (settings["task_soft_time_limit"], settings["task_time_limit"]) == (40.0, 41.0)
    assert settings["broker_transport_options"]["wait_time_seconds"] == 20
    assert settings["broker_transport_options"]["lazy_after_s"] == pytest.approx(400 / 60)
    assert settings["broker_transport_options"]["lazy_poll_s"] == pytest.approx(2 / 60)


@pytest.mark.parametrize(
    ("speed", "visibility", "beat"), [(1.0, 120, 40.0), (10.0, 12, 4.0), (30.0, 6, 40 / 30), (1_000.0, 6, 1.0)]
)
def test_a_lease_never_gets_too_short_to_keep(speed: float, visibility: int, beat: float) -> None:
    """Six wall seconds are kept at any speed, and always hold two beats."""
    clock = StageClock(speed)
    assert visibility_s(_ENV, clock) == visibility
    assert beat_s(_ENV, clock) == pytest.approx(beat)
    assert beat_s(_ENV, clock) * 2 <= visibility_s(_ENV, clock)


@pytest.mark.parametrize("pool", ["gevent", "eventlet", "processes"])
def test_pools_that_lose_work_are_refused(pool: str) -> None:
    """In one line."""
    with pytest.raises(ContractError, match=rf"^HEADWAY_POOL = '{pool}': must be one of prefork, threads, solo$"):
        _settings(pool=pool)


def test_a_lane_without_a_queue_is_refused() -> None:
    """Its worker would have nothing to poll."""
    with pytest.raises(ContractError, match=r"^HEADWAY_LANE = 'express': no such lane"):
        _settings(lane="express")


def test_calls_are_interrupted_before_a_stop_is_over() -> None:
    """Fifteen stage seconds before it, or half of a shorter stop."""
    assert doctest.testmod(shutdown).failed == 0
