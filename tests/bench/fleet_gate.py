"""Do a fleet's calls keep within the quota and use it, while a deploy doubles the fleet? Goals: 0 over, 98% used.

Forty processes ask the model's server as fast as they get answers, each through both gates, as a worker's pool does.
In the middle forty more begin, and the old ones are told to end a while later. What was in flight is read from the
server's own log of calls, and the server would serve twice the quota, so that a call too many shows. For comparison: a
fleet that keeps within the quota by its size alone must be half as large, for a deploy to double it.
"""

import asyncio
import json
import multiprocessing
import os
import signal
import statistics
import sys
import tempfile
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass
from io import BytesIO
from itertools import pairwise
from multiprocessing.process import BaseProcess
from pathlib import Path

import sqlalchemy as sa
from PIL import Image

from headway.clock import StageClock
from headway.contract import DatabaseSecret
from headway.jobs import connect
from headway.jobs.quota import LeaseTerms, ask, give_back, set_quota
from headway.vision.asking import Asker, Quota
from headway.vision.calls import Origin, Price
from headway.vision.checks import BARS
from headway.vision.client import Answer, ModelClient
from headway.vision.gate import Gate
from headway.worker.fleet import FleetQuota
from headway_ops.local.model.server import ModelConfig
from headway_ops.local.ports import answers, free_port
from headway_ops.local.postgres import postgres
from headway_ops.local.processes import Ledger, spawn, stop

REPORT = Path(__file__).resolve().parent.parent.parent / "out" / "gate" / "report.json"
QUOTA = 24
PROCESSES = 40
GOAL = 0.98
#: A call takes 10 to 25 minutes of stage time: 10 to 25 s here.
CLOCK = StageClock(60.0)
CALL_S = (600.0, 1_500.0)
#: Wall seconds with one fleet, with both, and with the new one alone.
BEFORE_S, DEPLOY_S, AFTER_S = 40.0, 60.0, 40.0
PHASES = ("one fleet", "two fleets", "the new fleet")
STATIC_S = 30.0
#: The log of calls is looked at this often.
SAMPLE_S = 0.01
#: What a worker's visibility timeout and beat become at this speed (headway.worker.settings).
TERMS = LeaseTerms(lease_s=6.0, beat_s=1.0, waiting_s=6.0)
_PROCESS = multiprocessing.get_context("fork").Process


class NoQuota:
    """Lets everybody through: what keeps within the quota then is the size of the fleet."""

    @asynccontextmanager
    async def place(self, *, within_s: float) -> AsyncIterator[int]:
        """Hold nothing."""
        yield 0


class Caller:
    """One process: asks until SIGTERM, and then ends the call that runs, as a warm shutdown does."""

    def __init__(self, model: ModelClient, quota: Quota, png: bytes) -> None:
        self._model, self._png, self._calling, self._ending = model, png, False, False
        price = Price(input_usd_per_mtok=0.0, output_usd_per_mtok=0.0)
        self._asker = Asker(model=self, gate=Gate(1), quota=quota, clock=CLOCK, price=price, patience_s=100_000.0)

    async def ask(self, prompt: str, png: bytes, origin: Origin) -> Answer:
        """Ask the server, and know that a call runs."""
        self._calling = True
        try:
            return await self._model.ask(prompt, png, origin)
        finally:
            self._calling = False

    async def run(self) -> None:
        """Ask one question after the other."""
        origin = Origin(job_id=uuid.uuid4(), step_id=uuid.uuid4(), attempt=1)
        asking = asyncio.create_task(self._forever(origin))

        def end() -> None:
            self._ending = True
            if not self._calling:
                asking.cancel()

        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
        with suppress(asyncio.CancelledError):
            await asking

    async def _forever(self, origin: Origin) -> None:
        while not self._ending:
            await self._asker.ask(BARS, self._png, origin, lambda _: None)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What every process is made of; all of it exists before the processes fork, as in a pool."""

    secret: DatabaseSecret
    port: int
    png: bytes

    def start(self, count: int, *, leases: bool) -> list[BaseProcess]:
        """Start so many processes."""
        model = ModelClient(
            base_url=f"http://127.0.0.1:{self.port}/v1", api_key="k", model="m", timeout_s=2_100.0, clock=CLOCK
        )
        started: list[BaseProcess] = []
        for _ in range(count):
            quota: Quota = self._quota() if leases else NoQuota()
            process = _PROCESS(target=lambda quota=quota: asyncio.run(Caller(model, quota, self.png).run()))
            process.start()
            started.append(process)
        return started

    def _quota(self) -> FleetQuota:
        return FleetQuota(self.secret, calls=QUOTA, clock=CLOCK, lease_s=TERMS.lease_s, beat_s=TERMS.beat_s)


def end(processes: Sequence[BaseProcess]) -> None:
    """Tell processes to end, and wait for their calls."""
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()


@contextmanager
def model_server(directory: Path, port: int) -> Iterator[Path]:
    """Run the model's server and yield its log of calls."""
    log = directory / "calls.jsonl"
    config = ModelConfig(
        quota_calls=2 * QUOTA,
        speed=CLOCK.speed,
        call_min_s=CALL_S[0],
        call_max_s=CALL_S[1],
        seed=1,
        log=str(log),
    )
    command = [sys.executable, "-m", "headway_ops.local.model", str(port), json.dumps(asdict(config))]
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8"}
    process = spawn(command, env=environment, log=directory / "model.log", ledger=Ledger(directory / "processes"))
    try:
        while not answers(port):
            time.sleep(0.1)
        yield log
    finally:
        stop(process)


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Calls in flight between two times, by the server's log. ``idle_ms``: how long a free place stayed so, median."""

    samples: int
    over: int
    peak: int
    utilisation: float
    idle_ms: float


def usage(log: Path, begin: float, until: float) -> Usage:
    """Count the calls that were in flight, every hundredth second."""
    calls = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    changes = sorted([(call["started"], 1) for call in calls] + [(call["ended"], -1) for call in calls])
    counts: list[int] = []
    in_flight = position = peak = 0
    at = begin
    while at < until:
        while position < len(changes) and changes[position][0] <= at:
            in_flight += changes[position][1]
            peak = max(peak, in_flight)
            position += 1
        counts.append(in_flight)
        at += SAMPLE_S
    return Usage(
        samples=len(counts),
        over=sum(count > QUOTA for count in counts),
        peak=peak,
        utilisation=statistics.fmean(counts) / QUOTA,
        idle_ms=statistics.median(idle_s(changes, begin, until)) * 1_000,
    )


def idle_s(changes: Sequence[tuple[float, int]], begin: float, until: float) -> list[float]:
    """Return how long each place stayed free after a call's end, in the order in which they were taken again."""
    free: deque[float] = deque()
    idle: list[float] = []
    for at, change in changes:
        if begin <= at < until:
            if change < 0:
                free.append(at)
            elif free:
                idle.append(at - free.popleft())
    return idle


def lease_ms(engine: sa.Engine) -> float:
    """Return what taking a place and giving it back costs an idle fleet, the median of 300, milliseconds."""
    took: list[float] = []
    for _ in range(300):
        lease, began = uuid.uuid4(), time.perf_counter()
        ask(engine, lease, calls=QUOTA, terms=TERMS)
        give_back(engine, lease)
        took.append(time.perf_counter() - began)
    return statistics.median(took) * 1_000


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A time, and how many transactions the database had ended by then."""

    at: float
    transactions: int


def mark(engine: sa.Engine) -> Mark:
    """Return the mark of this moment."""
    with engine.connect() as connection:
        query = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
        return Mark(at=time.time(), transactions=int(connection.execute(sa.text(query)).scalar_one()))


def deploy(bench: Bench, engine: sa.Engine) -> list[Mark]:
    """Run one fleet, both, and the new one; return the marks between these phases and around them."""
    old = bench.start(PROCESSES, leases=True)
    time.sleep(CLOCK.wall(CALL_S[0]))  # until the first calls end, the fleet only fills its places
    marks = [mark(engine)]
    time.sleep(BEFORE_S)
    marks.append(mark(engine))
    new = bench.start(PROCESSES, leases=True)
    time.sleep(DEPLOY_S)
    marks.append(mark(engine))
    for process in old:
        process.terminate()
    time.sleep(AFTER_S)
    marks.append(mark(engine))
    end([*old, *new])
    return marks


def static(bench: Bench) -> tuple[float, float]:
    """Run the fleet that a deploy may double; return from when until when it was at work."""
    fleet = bench.start(QUOTA // 2, leases=False)
    time.sleep(CLOCK.wall(CALL_S[0]) / 2)
    begin = time.time()
    time.sleep(STATIC_S)
    until = time.time()
    end(fleet)
    return begin, until


def main() -> int:
    """Measure, print, write the report, and return 0 where the goals are met."""
    image = BytesIO()
    Image.new("L", (64, 64), 255).save(image, "PNG")
    with tempfile.TemporaryDirectory() as folder, postgres(Path(folder) / "postgres") as server:
        server.upgrade()
        secret = server.secret
        engine = connect(secret)
        set_quota(engine, QUOTA)
        cost_ms = lease_ms(engine)
        bench = Bench(secret=secret, port=free_port(), png=image.getvalue())
        with model_server(Path(folder), bench.port) as log:
            marks = deploy(bench, engine)
            compared = static(bench)
            whole, halved = usage(log, marks[0].at, marks[-1].at), usage(log, *compared)
            phases = {
                name: {
                    "utilisation": round(usage(log, begin.at, until.at).utilisation, 4),
                    "transactions_per_s": round((until.transactions - begin.transactions) / (until.at - begin.at)),
                }
                for name, (begin, until) in zip(PHASES, pairwise(marks), strict=True)
            }
        engine.dispose()
    report = {
        "samples": whole.samples,
        "samples_over_quota": whole.over,
        "utilisation": round(whole.utilisation, 4),
        "static_product_utilisation": round(halved.utilisation, 4),
        "processes": PROCESSES,
        "processes_during_deploy": 2 * PROCESSES,
        "quota": QUOTA,
        "peak_in_flight": whole.peak,
        "place_idle_p50_ms": round(whole.idle_ms),
        "phases": phases,
        "lease_and_release_p50_ms": round(cost_ms, 2),
    }
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(report, indent=2) + "\n")
    kept = whole.peak <= QUOTA and whole.over == 0
    return 0 if kept and whole.utilisation >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
