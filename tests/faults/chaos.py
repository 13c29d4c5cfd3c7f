"""Jobs on real workers, under faults at random, until every one has ended; and then what the ledgers say."""

import base64
import contextlib
import json
import random
import sys
import time
import urllib.request
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from headway.clock import StageClock
from headway.jobs import StepStatus, connect
from headway.jobs.schema import calls, events, jobs, steps
from headway.jobs.states import ACTIVE_STEP
from headway.producer import Producer, SubmitError
from headway.producer.broker import BLOCKSPLIT
from headway_ops.local.model.server import ModelConfig
from headway_ops.local.ports import answers, free_port
from headway_ops.local.postgres import Server as Database
from headway_ops.local.processes import Ledger, spawn, stop
from headway_ops.local.project import PROJECT
from tests.faults.fleet import Fleet
from tests.faults.ledgers import Asked, called_twice, more_than_once, started_unprotected
from tests.faults.schedule import Fault, Kind, faults
from tests.runtime.support.agent import AgentServer
from tests.runtime.support.drawings import drawing
from tests.runtime.support.model import ModelServer
from tests.runtime.support.proxy import EVERY, FaultProxy
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import Stage, celery_body
from tests.runtime.support.waiting import until

#: The fleet, its heavy slots a task, and the calls that it may have in flight: it is over that in every deployment.
_LANES = ("heavy", "heavy", "heavy", "fast")
_SLOTS = 6
QUOTA_CALLS = 3 * _SLOTS
#: A job is a blocksplit and four steps: two blocks, two checks each.
_BLOCKS = 2
MESSAGES_A_JOB = 5
#: Jobs that may be open at a time: enough that no slot idles.
_OPEN_JOBS = 120
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
_LOOK_EVERY_S = 1.0


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What the ledgers say; everything from ``lost`` to ``overstayed`` must be 0.

    ``exits`` counts the tasks that ended by their exit codes: -9 for SIGKILL, 4 for a lane or a job store that was away
    at boot. ``requeued`` steps had used their receives up and were sent again from the dead letters, as an operator
    would; ``failed`` steps gave up after all their attempts.
    """

    jobs: int
    messages: int
    calls: int
    injected: dict[str, int]
    kills: int
    exits: dict[int, int]
    requeued: int
    failed: int
    lost: int
    accepted_twice: int
    called_twice_without_a_kill: int
    started_unprotected: int
    over_quota_samples: int
    unresolved: int
    overstayed: int
    seconds: float

    @property
    def clean(self) -> bool:
        """Whether everything that must be 0 is."""
        once = self.accepted_twice + self.called_twice_without_a_kill
        kept = self.started_unprotected + self.over_quota_samples + self.overstayed
        return not (self.lost + self.unresolved + once + kept)


class Chaos:
    """One run. ``speed`` is stage seconds in a wall second."""

    def __init__(
        self, stage: Stage, database: Database, directory: Path, *, wanted: int, seed: int, speed: float
    ) -> None:
        self._stage, self._database, self._directory, self._wanted = stage, database, directory, wanted
        self._clock, self._seed, self._draw = StageClock(speed), seed, random.Random(seed)
        self._engine = connect(database.secret)
        self._agent, self._proxy = AgentServer(), FaultProxy(stage.endpoint)
        self._model_port, self._model_log = free_port(), directory / "model.jsonl"
        self._began, self._looked = time.monotonic(), 0.0
        self._submitted: list[uuid.UUID] = []
        self._open = 0
        self._requeued: set[uuid.UUID] = set()
        self._lost: set[uuid.UUID] = set()
        #: What is to be undone, and when (monotonic).
        self._undo: list[tuple[float, Callable[[], None]]] = []
        self._outages: list[tuple[float, float]] = []
        self._done: dict[Kind, int] = dict.fromkeys(Kind, 0)

    def run(self, *, within_s: float) -> Counts:
        """Send the jobs, break what the schedule says, and count once they have ended or the time is over."""
        with self._running() as fleet, contextlib.closing(self._producer()) as producer:
            coming = faults(self._seed)
            fault = next(coming)
            while self._elapsed() < within_s and not self._over():
                if self._elapsed() >= fault.at_s:
                    self._break(fault, fleet)
                    fault = next(coming)
                self._mend()
                fleet.keep()
                self._submit(producer)
                self._look()
                time.sleep(0.05)
            seconds = self._elapsed()
            self._mend(everything=True)
            fleet.end()
            return self._count(fleet, seconds)

    @contextlib.contextmanager
    def _running(self) -> Iterator[Fleet]:
        config = ModelConfig(
            quota_calls=2 * QUOTA_CALLS,  # so that a fleet over its quota shows
            speed=self._clock.speed,
            call_min_s=6.0,
            call_max_s=30.0,
            seed=self._seed,
            log=str(self._model_log),
        )
        model = spawn(
            [sys.executable, "-m", "tests.faults.model", str(self._model_port), json.dumps(asdict(config))],
            env={"PATH": "", "LANG": "C.UTF-8"},
            log=self._directory / "model.log",
            ledger=Ledger(self._directory / "processes"),
            cwd=PROJECT,
        )
        try:
            until(lambda: answers(self._model_port), what="model server")
            with serving(self._agent), serving(self._proxy):
                fleet = Fleet(
                    _LANES,
                    self._variables,
                    [sys.executable, "-m", "headway.worker"],
                    self._directory,
                    stop_timeout_s=self._clock.wall(_DURATIONS["stop_timeout_s"]),
                )
                try:
                    yield fleet
                finally:
                    self._proxy.released.set()
                    fleet.end()
        finally:
            stop(model)

    def _variables(self, lane: str, task: str) -> dict[str, str]:
        return self._stage.worker_variables(
            lane,
            sqs_endpoint=self._proxy.url,
            host=task,
            speed=self._clock.speed,
            concurrency=_SLOTS if lane == "heavy" else 2,
            protection=lane == "heavy",
            agent_uri=f"{self._agent.url}/{task}",
            quota_calls=QUOTA_CALLS,
            model_base_url=f"http://127.0.0.1:{self._model_port}/v1",
            **_DURATIONS,
        )

    def _producer(self) -> Producer:
        return Producer(self._stage.producer_env(fast_queue="fast"), self._database.secret)

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def _over(self) -> bool:
        return len(self._submitted) == self._wanted and not self._open

    def _submit(self, producer: Producer) -> None:
        """Keep the lanes full. A job that was refused was never taken in: its sender knows."""
        if len(self._submitted) < self._wanted and self._open < _OPEN_JOBS:
            with contextlib.suppress(SubmitError):
                self._submitted.append(producer.submit(_DRAWING, "plan.png"))
                self._open += 1

    def _break(self, fault: Fault, fleet: Fleet) -> None:
        ends = time.monotonic() + fault.lasts_s
        self._done[fault.kind] += 1
        match fault.kind:
            case Kind.KILL_WORKER:
                fleet.kill(self._draw)
            case Kind.KILL_CHILD:
                fleet.kill_child(self._draw)
            case Kind.DEPLOYMENT:
                fleet.deploy(self._draw)
            case Kind.DUPLICATES:
                self._send_again()
            case Kind.LOST_ACKS:
                self._proxy.break_next(self._draw.randint(2, 12), self._draw.choice(_LOSSES), "DeleteMessage")
            case Kind.ENDPOINT_DOWN:
                self._proxy.break_next(1_000_000, self._draw.choice(_LOSSES), EVERY)
                self._undo.append((ends, self._mend_endpoint))
            case Kind.ENDPOINT_HANGS:
                self._proxy.break_next(2, "hang", self._draw.choice(("ReceiveMessage", "DeleteMessage")))
            case Kind.DATABASE_RESTART if all(undo != self._start_database for _, undo in self._undo):
                self._outages.append((time.time(), float("inf")))
                self._database.stop()
                self._undo.append((ends, self._start_database))
            case Kind.RATE_LIMITS:
                with contextlib.suppress(OSError):
                    self._ask_model(f"/storm?for_s={fault.lasts_s}", method="POST")
            case Kind.REFUSALS:
                self._agent.refusing = True
                self._undo.append((ends, self._grant_again))

    def _mend(self, *, everything: bool = False) -> None:
        due = [(at, undo) for at, undo in self._undo if everything or time.monotonic() >= at]
        self._undo = [entry for entry in self._undo if entry not in due]
        for _, undo in due:
            undo()

    def _mend_endpoint(self) -> None:
        self._proxy.left = 0

    def _grant_again(self) -> None:
        self._agent.refusing = False

    def _start_database(self) -> None:
        self._database.start()
        self._outages[-1] = (self._outages[-1][0], time.time() + _VISIBILITY_S)

    def _send_again(self) -> None:
        with contextlib.suppress(sa.exc.OperationalError), self._engine.connect() as connection:
            mine = sa.select(steps.c.id).where(steps.c.job_id.in_(self._submitted))
            some = connection.scalars(mine.order_by(sa.func.random()).limit(8)).all()
            for step_id in some:
                self._stage.send_step(step_id)

    def _look(self) -> None:
        """Count the open jobs, say where things are, and look for messages that are gone."""
        if time.monotonic() < self._looked + _LOOK_EVERY_S:
            return
        self._looked = time.monotonic()
        try:
            with self._engine.connect() as connection:
                ended = jobs.c.finished_at.is_not(None)
                mine = jobs.c.id.in_(self._submitted)
                self._open = len(self._submitted) - (
                    connection.scalar(sa.select(sa.func.count()).where(ended, mine)) or 0
                )
        except sa.exc.OperationalError:
            return
        lanes = {lane: self._stage.counts(lane) for lane in ("heavy", "fast")}
        sys.stderr.write(
            f"\r{self._elapsed():5.0f} s: {len(self._submitted):,} jobs sent, {self._open:,} open, lanes {lanes}, "
            f"{sum(self._done.values())} faults   "
        )
        sys.stderr.flush()
        if self._open and not any(map(sum, lanes.values())):
            self._requeue()

    def _requeue(self) -> None:
        """Both lanes are empty and jobs are open: send what is among the dead letters; the rest is lost."""
        dead = set(self._dead_steps())
        with contextlib.suppress(sa.exc.OperationalError), self._engine.connect() as connection:
            query = sa.select(jobs.c.id, steps.c.id).join_from(jobs, steps, isouter=True)
            active = sa.or_(steps.c.id.is_(None), steps.c.status.in_(ACTIVE_STEP))
            rows = connection.execute(
                query.where(jobs.c.id.in_(self._submitted), jobs.c.finished_at.is_(None), active)
            ).all()
            if any(map(sum, (self._stage.counts(lane) for lane in ("heavy", "fast")))):
                return
            for job_id, step_id in rows:
                known = (step_id or job_id) in dead
                (self._requeued if known else self._lost).add(step_id or job_id)
            for job_id in {job_id for job_id, _ in rows}:
                self._stage.send_body(celery_body(BLOCKSPLIT, [str(job_id)], "fast"), "fast")

    def _dead_steps(self) -> Iterator[uuid.UUID]:
        for lane in ("heavy", "fast"):
            url = self._stage.dead_letter_urls[lane]
            while letters := self._stage.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
                for letter in letters:
                    args, _, _ = json.loads(base64.b64decode(json.loads(letter["Body"])["body"]))
                    yield uuid.UUID(args[0])
                    self._stage.sqs.delete_message(QueueUrl=url, ReceiptHandle=letter["ReceiptHandle"])

    def _count(self, fleet: Fleet, seconds: float) -> Counts:
        lines = [json.loads(line) for line in self._model_log.read_text(encoding="utf-8").splitlines()]
        asked = [Asked.of(line) for line in lines]
        usage = json.loads(self._ask_model("/usage"))
        ended = events.c.to_status.in_(("succeeded", "failed", "canceled"))
        mine = events.c.job_id.in_(self._submitted)
        with self._engine.connect() as connection:
            ends = connection.execute(sa.select(events.c.job_id, events.c.step_id).where(ended, mine)).all()
            accepted = connection.scalars(sa.select(calls.c.step_id).where(calls.c.accepted)).all()
            sent = sa.select(sa.func.count()).where(steps.c.job_id.in_(self._submitted))
            messages = len(self._submitted) + (connection.scalar(sent) or 0)
            failed = connection.scalar(sent.where(steps.c.status == StepStatus.FAILED)) or 0
        jobs_ended = {job_id for job_id, step_id in ends if step_id is None}
        return Counts(
            jobs=len(self._submitted),
            messages=messages,
            calls=len(asked),
            injected={str(kind): count for kind, count in self._done.items()},
            kills=len(fleet.hits),
            exits=dict(Counter(fleet.exits)),
            requeued=len(self._requeued),
            failed=failed,
            lost=len(self._lost),
            accepted_twice=more_than_once(accepted) + more_than_once(map(tuple, ends)),
            called_twice_without_a_kill=called_twice(asked, fleet.hits, self._outages),
            started_unprotected=started_unprotected(
                asked, self._agent.granted, minute_s=self._clock.wall(60.0), lane="heavy"
            ),
            over_quota_samples=sum(in_flight > QUOTA_CALLS for _, in_flight in usage["history"]),
            unresolved=self._wanted - len(jobs_ended),
            overstayed=fleet.overstayed,
            seconds=round(seconds, 1),
        )

    def _ask_model(self, path: str, *, method: str = "GET") -> bytes:
        request = urllib.request.Request(f"http://127.0.0.1:{self._model_port}{path}", method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            content: bytes = answer.read()
            return content


#: Ways to lose a request.
_LOSSES = ("reset", "503", "closed", "ThrottlingException")
_DRAWING = drawing(_BLOCKS)


def run(endpoint: str, database: Database, directory: Path, *, jobs: int, seed: int, speed: float) -> Counts:
    """Run once on the emulator at ``endpoint``, within fifteen minutes for each thousand jobs."""
    stage = Stage(endpoint, database.secret, ModelServer(), directory)
    for url in stage.queue_urls.values():
        stage.sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": str(_VISIBILITY_S)})
    return Chaos(stage, database, directory, wanted=jobs, seed=seed, speed=speed).run(
        within_s=_WITHIN_S * max(1.0, jobs / 1_000)
    )


_WITHIN_S = 840.0
