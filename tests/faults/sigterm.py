"""SIGTERM to a worker with a busy and an idle slot, again and again: is it gone in time, and is its message back?

Messages are hidden for minutes, so that nothing but the worker's own hand-back makes one visible again in time.
"""

import contextlib
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.contract import DatabaseSecret
from headway.jobs import StepStatus
from tests.runtime.support.model import ModelServer
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until

#: Wall seconds: the stop's time, how long a message stays hidden by itself, and how soon it must be back.
#: The stop is ECS's default one, and its calls are interrupted as long before its end as in a longer one.
STOP_TIMEOUT_S, _VISIBILITY_S, BACK_WITHIN_S = 30, 120, 20.0
_AT_ONCE = 10
#: boto3's default session makes one client at a time.
_MAKING = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Moment:
    """When SIGTERM comes: so many seconds into a call, which ends in time or does not.

    ``other_after_s``: another message is sent so long after SIGTERM, or before it where negative.
    """

    into_call_s: float
    ends_in_time: bool
    other_after_s: float


@dataclass(frozen=True, kw_only=True)
class Stop:
    """Seconds from SIGTERM to the exit, and from then until every unfinished message was visible; None: too late."""

    exit_s: float | None
    visible_s: float | None


@dataclass(frozen=True, kw_only=True)
class Stops:
    """All runs together."""

    runs: int
    exited_in_time: int
    visible_in_time: int
    slowest_exit_s: float
    slowest_visible_s: float

    @property
    def clean(self) -> bool:
        """Whether every one was in time."""
        return self.exited_in_time == self.visible_in_time == self.runs


def moments(runs: int, seed: int) -> list[Moment]:
    """Return so many moments; the same for the same seed."""
    draw = random.Random(seed)
    return [
        Moment(
            into_call_s=draw.uniform(0.0, 1.5),
            ends_in_time=draw.random() < 0.3,
            other_after_s=draw.uniform(-0.3, 0.3),
        )
        for _ in range(runs)
    ]


def run(endpoint: str, secret: DatabaseSecret, directory: Path, *, runs: int, seed: int) -> Stops:
    """Stop as many workers, some at a time."""

    def one(moment: Moment) -> Stop:
        with _stage(endpoint, secret, directory) as stage:
            return stop(stage, moment)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        stops = list(pool.map(one, moments(runs, seed)))
    exits = [stop.exit_s for stop in stops if stop.exit_s is not None]
    backs = [stop.visible_s for stop in stops if stop.visible_s is not None]
    return Stops(
        runs=runs,
        exited_in_time=len(exits),
        visible_in_time=len(backs),
        slowest_exit_s=round(max(exits, default=0.0), 2),
        slowest_visible_s=round(max(backs, default=0.0), 2),
    )


@contextlib.contextmanager
def _stage(endpoint: str, secret: DatabaseSecret, directory: Path) -> Iterator[Stage]:
    model = ModelServer()
    with serving(model):
        with _MAKING:
            stage = Stage(endpoint, secret, model, directory)
        try:
            yield stage
        finally:
            model.gate.set()
            stage.engine.dispose()


def stop(stage: Stage, moment: Moment) -> Stop:
    """Stop one worker in the middle of a call."""
    stage.sqs.set_queue_attributes(
        QueueUrl=stage.queue_urls["heavy"], Attributes={"VisibilityTimeout": str(_VISIBILITY_S)}
    )
    busy, other = stage.pending_step(), stage.pending_step()
    stage.model.gate.clear()
    limits: dict[str, Any] = {"soft_time_limit_s": 240, "time_limit_s": 300, "model_timeout_s": 200}
    with stage.worker(visibility_timeout_s=_VISIBILITY_S, stop_timeout_s=STOP_TIMEOUT_S, **limits) as worker:
        worker.wait_until_ready()
        stage.send_step(busy)
        until(lambda: stage.model.asked, what="the call")
        time.sleep(moment.into_call_s)
        if moment.other_after_s < 0:
            stage.send_step(other)
            time.sleep(-moment.other_after_s)
        worker.process.send_signal(signal.SIGTERM)
        told = time.monotonic()
        if moment.other_after_s >= 0:
            time.sleep(moment.other_after_s)
            stage.send_step(other)
        if moment.ends_in_time:
            stage.model.gate.set()
        try:
            worker.process.wait(STOP_TIMEOUT_S - (time.monotonic() - told))
        except subprocess.TimeoutExpired:
            return Stop(exit_s=None, visible_s=None)
        gone = time.monotonic()

    try:
        until(lambda: stage.counts()[1] == 0, within_s=BACK_WITHIN_S)
    except AssertionError:
        return Stop(exit_s=gone - told, visible_s=None)
    visible_s = time.monotonic() - gone
    unfinished = {step_id for step_id in (busy, other) if stage.step_status(step_id) is StepStatus.PENDING}
    return Stop(exit_s=gone - told, visible_s=visible_s if unfinished <= set(stage.waiting("heavy")) else None)
