"""What do the locks cost, and how fast is a sweep? Goals: 0.75 of the unlocked rate, 1,000 jobs/s, a look under 50 ms.

Eight callers work on the steps of one job, each on its own: they claim, renew and finish or release them, with the
job store's functions as they are, and with every lock of a callback taken out of them. Both take turns on one server,
so that a busy machine slows both. Then a sweep runs over ten thousand silent jobs among a million.
"""

import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from headway.contract import DatabaseSecret
from headway.jobs import connect
from headway.jobs.watchdog import silent_query
from headway.reconciler.counts import Counts
from headway.reconciler.sweep import sweep
from headway_ops.local.postgres import Server, postgres
from headway_ops.local.project import PROJECT
from tests.races.mutants import Mutant, alive
from tests.races.sides import connected

REPORT = PROJECT / "out" / "jobs" / "report.json"
CALLERS = 8
ROUNDS, ROUND_S = 6, 3.0
JOBS, SILENT = 1_000_000, 10_000
IDLE_S = 3_600.0
GOAL_RATIO, GOAL_JOBS_PER_S, GOAL_LOOK_MS = 0.75, 1_000, 50

#: The callbacks without their locks.
UNLOCKED = tuple(
    Mutant(name=f"{function} unlocked", function=function, text=text, by="")
    for function, text in (
        ("claim_step", " FOR SHARE"),
        ("renew_step", " FOR SHARE"),
        ("release_step", " FOR SHARE"),
        ("finish_step", " FOR SHARE"),
    )
)
_PAID = (
    '[{{"id": "{id}", "outcome": "ok", "accepted": true, "latency_s": 1, "input_tokens": 1, "output_tokens": 1,'
    ' "cost_usd": 0.5, "rate_limited": 0, "in_flight_at_start": 1}}]'
)


@dataclass(frozen=True, kw_only=True)
class Round:
    """Transactions a second, and how long each took."""

    rate: float
    took_ms: Sequence[float]

    @property
    def p99_ms(self) -> float:
        """The slowest but one percent."""
        return statistics.quantiles(self.took_ms, n=100)[98]


def play(server: Server, steps: Sequence[Sequence[str]]) -> Round:
    """Let every caller work on its own steps of one job for a while."""
    took: list[list[float]] = [[] for _ in steps]
    together, ends = threading.Barrier(len(steps) + 1), time.monotonic() + 3_600

    def call(number: int) -> None:
        with connected(server.secret) as connection:

            def timed(statement: str) -> Any:
                began = time.perf_counter()
                row = connection.execute(statement.encode()).fetchone()
                took[number].append((time.perf_counter() - began) * 1000)
                return row and row[0]

            together.wait()
            for step in steps[number]:
                attempt = timed(f"SELECT attempt FROM claim_step('{step}', 60)")
                timed(f"SELECT renew_step('{step}', {attempt}, 60)")
                timed(f"SELECT release_step('{step}', {attempt}, 'refused', '[]')")
                timed(f"SELECT attempt FROM claim_step('{step}', 60)")
                paid = _PAID.format(id=step)
                timed(f"SELECT finish_step('{step}', {attempt + 1}, 'succeeded', '{{}}', NULL, '{paid}')")
                if time.monotonic() > ends:
                    return

    threads = [threading.Thread(target=call, args=(number,)) for number in range(len(steps))]
    for thread in threads:
        thread.start()
    together.wait()
    began = time.monotonic()
    ends = began + ROUND_S
    for thread in threads:
        thread.join()
    every = [each for one in took for each in one]
    return Round(rate=len(every) / (time.monotonic() - began), took_ms=every)


_ONE_JOB = """
    WITH job AS (
        INSERT INTO jobs (name, drawing_key, status, started_at) VALUES ('b', 'b', 'running', now()) RETURNING id
    ), cut AS (
        INSERT INTO blocks (job_id, number, page, box, image_key)
        SELECT id, n, 1, '[0, 0, 1, 1]', 'b' FROM job, generate_series(1, :steps) AS n RETURNING id, job_id
    )
    INSERT INTO steps (job_id, block_id, check_name) SELECT job_id, id, 'bars' FROM cut RETURNING id::text
"""


def one_job(owner: sa.Engine, steps: int) -> list[list[str]]:
    """Return the pending steps of a new job, a share for each caller."""
    with owner.begin() as connection:
        ids = list(connection.scalars(sa.text(_ONE_JOB), {"steps": steps}))
    return [ids[caller::CALLERS] for caller in range(CALLERS)]


def locks(server: Server, owner: sa.Engine) -> dict[str, float]:
    """Measure both ways, in turns."""
    locked, unlocked = list[Round](), list[Round]()
    play(server, one_job(owner, 400))
    for _ in range(ROUNDS):
        locked.append(play(server, one_job(owner, 12_000)))
        with ExitStack() as mutants:
            for mutant in UNLOCKED:
                mutants.enter_context(alive(mutant, server.owner))
            unlocked.append(play(server, one_job(owner, 12_000)))
    return {
        "callers": CALLERS,
        "locked_per_s": round(statistics.median(each.rate for each in locked)),
        "unlocked_per_s": round(statistics.median(each.rate for each in unlocked)),
        "ratio": round(statistics.median(a.rate / b.rate for a, b in zip(locked, unlocked, strict=True)), 3),
        "locked_p99_ms": round(statistics.median(each.p99_ms for each in locked), 1),
        "unlocked_p99_ms": round(statistics.median(each.p99_ms for each in unlocked), 1),
    }


_MILLION = f"""
    INSERT INTO jobs (name, drawing_key, status, created_at, updated_at, started_at)
    SELECT 'b', 'b', CASE WHEN n <= {SILENT} THEN 'running' ELSE 'succeeded' END, at, at, at
    FROM generate_series(1, {JOBS}) AS n, (SELECT now() - interval '2 h' AS at) AS times;
    INSERT INTO blocks (id, job_id, number, page, box, image_key, created_at)
    SELECT id, id, 1, 1, '[0, 0, 1, 1]', 'b', updated_at FROM jobs WHERE status = 'running';
    INSERT INTO steps (job_id, block_id, check_name, status, attempt, created_at, updated_at)
    SELECT id, id, check_name, 'running', 1, updated_at, updated_at
    FROM jobs, (VALUES ('bars'), ('openings')) AS checks (check_name) WHERE status = 'running'
"""


def sweeping(secret: DatabaseSecret, owner: sa.Engine) -> dict[str, float]:
    """Measure the look and the sweep of silent jobs, each with two steps, among a million."""
    with owner.begin() as connection:
        connection.execute(sa.text("TRUNCATE jobs, blocks, steps, calls, events"))
        connection.execute(sa.text(_MILLION))
    with owner.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(sa.text("VACUUM ANALYZE jobs, blocks, steps"))
    engine = connect(secret)
    looks = [_ms(lambda: _look(engine)) for _ in range(20)]
    counts = Counts()
    took_ms = _ms(lambda: sweep(engine, counts, lanes_empty=True, idle_s=IDLE_S, reason="silent"))
    engine.dispose()
    return {
        "jobs": JOBS,
        "look_ms": round(statistics.median(looks), 2),
        "look_max_ms": round(max(looks), 2),
        "swept": counts.swept,
        "swept_per_s": round(counts.swept / took_ms * 1000),
    }


def _look(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        connection.execute(silent_query(idle_s=IDLE_S, after=None, limit=500)).all()


def _ms(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def main() -> int:
    """Measure, print, write the report, and return 0 where the goals are met."""
    with tempfile.TemporaryDirectory() as folder, postgres(Path(folder) / "postgres") as server:
        server.upgrade()
        owner = connect(server.owner)
        report = locks(server, owner) | sweeping(server.secret, owner)
        owner.dispose()
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(REPORT.read_text(encoding="utf-8"))
    met = (
        report["ratio"] >= GOAL_RATIO
        and report["swept"] == SILENT
        and report["swept_per_s"] >= GOAL_JOBS_PER_S
        and report["look_ms"] < GOAL_LOOK_MS
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
