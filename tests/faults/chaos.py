"""Jobs on real workers, under faults at random, until every one has ended; and then what the ledgers say."""

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from headway.clock import StageClock
from headway.producer import Producer
from headway_ops.local.model.server import ModelConfig
from headway_ops.local.postgres import Server as Database
from tests.faults.breaking import Breaker
from tests.faults.counts import Counts, count
from tests.faults.fleet import Fleet
from tests.faults.jobs import Jobs
from tests.faults.model import Model
from tests.faults.schedule import faults
from tests.runtime.support.agent import AgentServer
from tests.runtime.support.model import ModelServer
from tests.runtime.support.proxy import FaultProxy
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import Stage

#: The fleet, its heavy slots a task, and the calls that it may have in flight: it is over that in every deployment.
_LANES = ("heavy", "heavy", "heavy", "fast")
_SLOTS = 6
_QUOTA_CALLS = 3 * _SLOTS
#: Wall seconds at any speed: a lease is kept at least so long.
_VISIBILITY_S = 6
#: As deployed, stage seconds and minutes, but for the lease, and for the limits: a held step is looked at each third.
_DURATIONS: dict[str, Any] = {
    "visibility_timeout_s": _VISIBILITY_S,
    "lease_beat_s": 2,
    "soft_time_limit_s": 1_140,
    "time_limit_s": 1_200,
    "model_timeout_s": 1_000,
    "stop_timeout_s": 120,
    "protection_min": 30,
}
_CALL_S = (6.0, 30.0)
#: Wall seconds that a deployed worker has for settling what it has interrupted; at speed they would be two.
_SETTLING_S = 13.0
#: Wall seconds for a thousand jobs, or fewer.
_WITHIN_S = 840.0
_LOOK_EVERY_S = 1.0
_TICK_S = 0.05


def run(endpoint: str, database: Database, directory: Path, *, wanted: int, seed: int, speed: float) -> Counts:
    """Send so many jobs to a stage on the emulator at ``endpoint``, break what the schedule says, and count."""
    stage, clock = Stage(endpoint, database.secret, ModelServer(), directory), StageClock(speed)
    for url in stage.queue_urls.values():
        stage.sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": str(_VISIBILITY_S)})
    config = ModelConfig(
        quota_calls=2 * _QUOTA_CALLS,  # so that a fleet over its quota shows
        speed=speed,
        call_min_s=_CALL_S[0],
        call_max_s=_CALL_S[1],
        seed=seed,
        log=str(directory / "model.jsonl"),
    )
    agent, proxy, jobs = AgentServer(), FaultProxy(endpoint), Jobs(stage, wanted=wanted)
    with Model(config, directory).serving() as model, serving(agent), serving(proxy):
        breaker = Breaker(proxy=proxy, agent=agent, database=database, model=model, seed=seed, lease_s=_VISIBILITY_S)

        def variables(lane: str, task: str) -> dict[str, str]:
            return stage.worker_variables(
                lane,
                sqs_endpoint=proxy.url,
                host=task,
                speed=speed,
                concurrency=_SLOTS,
                protection=lane == "heavy",
                agent_uri=f"{agent.url}/{task}",
                quota_calls=_QUOTA_CALLS,
                model_base_url=f"{model.url}/v1",
                **_DURATIONS,
            )

        stop_timeout_s = clock.wall(_DURATIONS["stop_timeout_s"]) + _SETTLING_S
        fleet = Fleet(_LANES, variables, directory, stop_timeout_s=stop_timeout_s)
        try:
            seconds = _until_over(stage, jobs, fleet, breaker, seed=seed)
        finally:
            breaker.mend(everything=True)
            proxy.released.set()
            fleet.end()
        return count(
            stage.engine,
            jobs,
            fleet,
            breaker,
            agent,
            model,
            quota_calls=_QUOTA_CALLS,
            minute_s=clock.wall(60.0),
            seconds=seconds,
        )


def _until_over(stage: Stage, jobs: Jobs, fleet: Fleet, breaker: Breaker, *, seed: int) -> float:
    """Go on until every job has ended or the time is over; return the wall seconds."""
    began, coming = time.monotonic(), faults(seed)
    fault, looks = next(coming), _every(_LOOK_EVERY_S)
    with contextlib.closing(Producer(stage.producer_env(fast_queue="fast"), stage.secret)) as producer:
        while (elapsed := time.monotonic() - began) < _WITHIN_S * max(1.0, jobs.wanted / 1_000) and not jobs.over:
            if elapsed >= fault.at_s:
                breaker.carry_out(fault, fleet, jobs)
                fault = next(coming)
            breaker.mend()
            fleet.keep()
            jobs.submit(producer)
            if next(looks):
                _look(jobs, breaker, elapsed)
            time.sleep(_TICK_S)
        return elapsed


def _look(jobs: Jobs, breaker: Breaker, elapsed: float) -> None:
    with contextlib.suppress(sa.exc.OperationalError):
        jobs.look()
    sys.stderr.write(
        f"\r{elapsed:5.0f} s: {len(jobs.taken):,} jobs sent, {jobs.open:,} open, lanes {jobs.lanes}, "
        f"{sum(breaker.done.values())} faults   "
    )
    sys.stderr.flush()


def _every(pause_s: float) -> Iterator[bool]:
    """Yield whether so much time has passed since it was last True."""
    last = time.monotonic()
    while True:
        due = time.monotonic() >= last + pause_s
        if due:
            last = time.monotonic()
        yield due
