"""``make bench-worker``: CPU, latency, pickup, polls and memory against plain Celery; out/worker/report.json.

Every comparison is paired: both workers run all the time, and take turns in each round.
"""

import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from headway_ops.local.project import PROJECT
from tests.bench.worker.subject import RAW, WAIT_S, Subject, subject
from tests.runtime.support.emulator import emulated_aws
from tests.runtime.support.stage import KEYS

_REPORT = PROJECT / "out" / "worker" / "report.json"
_POOLS = (("threads", 32), ("prefork", 8))
_ROUNDS, _MESSAGES, _PICKUPS = 12, 200, 60
CPU_GOAL, LATENCY_GOAL_MS = 0.05, 5.0
_IDLE_S, _HOUR_S = 2.0 * WAIT_S, 3_600.0

T = TypeVar("T")


def main() -> int:
    """Measure both pools, print, write the report, and return 0 where the goals are met."""
    report: dict[str, Any] = {"goals": {"added_cpu": CPU_GOAL, "added_latency_ms": LATENCY_GOAL_MS}, "pools": {}}
    with tempfile.TemporaryDirectory() as folder, emulated_aws(Path(folder)) as endpoint:
        os.environ |= {"AWS_ENDPOINT_URL": endpoint, **KEYS}
        for pool, slots in _POOLS:
            report["pools"][f"{pool} {slots}"] = figures = _compare(pool, slots, endpoint, Path(folder))
            sys.stdout.write(f"{pool}, {slots} slots: {json.dumps(figures)}\n")
        report["receives_an_hour"] = polls = _polls(endpoint, Path(folder))
        sys.stdout.write(f"empty receives an hour: {json.dumps(polls)}\n")
    _REPORT.parent.mkdir(parents=True, exist_ok=True)
    _REPORT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    met = all(
        figures["added_cpu"] <= CPU_GOAL and figures["added_latency_ms"] <= LATENCY_GOAL_MS
        for figures in report["pools"].values()
    )
    return 0 if met else 1


def _compare(pool: str, slots: int, endpoint: str, folder: Path) -> dict[str, Any]:
    with (
        subject("headway", pool, slots, endpoint, folder) as ours,
        subject("plain", pool, slots, endpoint, folder) as plain,
        subject(RAW, pool, slots, endpoint, folder) as raw,
    ):
        cpu = _rounds((ours, plain), _ROUNDS, _cpu_ms)
        pickups = _rounds((ours, plain, raw), _PICKUPS, Subject.pick_up)
        handling = [[pickup.from_answer_ms for pickup in each] for each in pickups]
        return {
            "cpu_ms_a_message": round(statistics.median(cpu[0]), 3),
            "plain_cpu_ms_a_message": round(statistics.median(cpu[1]), 3),
            "added_cpu": round(statistics.median(a / b - 1 for a, b in zip(cpu[0], cpu[1], strict=True)), 4),
            "added_latency_ms": round(statistics.median(handling[0]) - statistics.median(handling[1]), 3),
            "pickup_ms": {
                each.kind: _percentiles([pickup.from_sent_ms for pickup in found])
                for each, found in zip((ours, plain, raw), pickups, strict=True)
            },
            "memory_mib_a_slot": round(ours.memory_mib() / slots, 2),
            "plain_memory_mib_a_slot": round(plain.memory_mib() / slots, 2),
        }


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    return {"p50": round(statistics.median(values), 2), "p95": round(statistics.quantiles(values, n=20)[-1], 2)}


def _rounds(subjects: Sequence[Subject], rounds: int, measure: Callable[[Subject], T]) -> Sequence[Sequence[T]]:
    """Return each subject's figures; who comes first changes, so that what drifts meets all alike."""
    found: dict[str, list[T]] = {each.kind: [] for each in subjects}
    order = list(subjects)
    for _ in range(rounds):
        random.shuffle(order)
        for each in order:
            found[each.kind].append(measure(each))
    return [found[each.kind] for each in subjects]


def _cpu_ms(worker: Subject) -> float:
    before = worker.cpu_s()
    worker.work(_MESSAGES, work_s=0.05)
    return (worker.cpu_s() - before) * 1_000 / _MESSAGES


def _polls(endpoint: str, folder: Path) -> dict[str, int]:
    """Count the polls of an idle worker, and of plain Celery told to poll short, once a second as is its default."""
    short = {"wait_time_s": 0, "polling_interval_s": 1.0}
    return {
        "headway": _polls_an_hour("headway", endpoint, folder),
        "short polling": _polls_an_hour("plain", endpoint, folder, **short),
    }


def _polls_an_hour(kind: str, endpoint: str, folder: Path, **values: Any) -> int:
    with subject(kind, "threads", 2, endpoint, folder, **values) as idle:
        before, began = idle.proxy.polled, time.monotonic()
        time.sleep(_IDLE_S)
        return round((idle.proxy.polled - before) / (time.monotonic() - began) * _HOUR_S)


if __name__ == "__main__":
    sys.exit(main())
