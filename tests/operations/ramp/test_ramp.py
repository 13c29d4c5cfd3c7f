"""The ramp's advice follows from the calls, and says why."""

import json
import uuid
from pathlib import Path

import pytest

from headway.vision.calllog import CallLog
from headway.vision.calls import Call as LoggedCall
from headway.vision.calls import Origin
from headway_ops.ramp import Advice, Call, CallLogError, advise, read_calls


def calls(count: int, *, in_flight: int = 1, latency_s: float = 900.0, limited: int = 0) -> list[Call]:
    """Return calls of one level, the first ``limited`` of which met a 429."""
    return [Call(latency_s=latency_s, rate_limited=int(n < limited), in_flight=in_flight) for n in range(count)]


def advice(made: list[Call], *, tasks: int = 5) -> Advice:
    """Advise a fleet of eight slots a task with one call each, under a quota of 120."""
    return advise(made, tasks=tasks, concurrency=8, max_inflight=1, quota=120)


def test_it_may_double_where_nothing_speaks_against_it() -> None:
    """No 429, equal latency at both levels, and 5 x 8 x 2 = 80 of 120 calls."""
    said = advice(calls(50) + calls(50, in_flight=2))
    assert (said.safe, said.to, said.budget, said.reasons) == (True, 2, 80, ())


@pytest.mark.parametrize(
    ("made", "tasks", "reason"),
    [
        (calls(1_000, limited=6), 5, "0.60% of the calls met a 429, more than 0.5%"),
        (
            calls(50) + calls(50, in_flight=2, latency_s=1_800),
            5,
            "with 2 in flight a call takes 2.00 times as long as with 1: the model queues them",
        ),
        (calls(50), 8, "tasks x concurrency x max_inflight = 128 > quota_calls = 120: lower max_tasks first"),
        (calls(19), 5, "no level has 20 calls yet: measure longer"),
    ],
)
def test_each_reason_keeps_it_where_it_is(made: list[Call], tasks: int, reason: str) -> None:
    """Rate limits, a model that queues, a budget over the quota, too little seen."""
    said = advice(made, tasks=tasks)
    assert (said.safe, said.to, said.reasons) == (False, 1, (reason,))


def test_a_level_has_its_own_figures() -> None:
    """Median and 95th percentile of ten latencies from 1 to 10 s, and two of ten calls limited."""
    made = [Call(latency_s=n, rate_limited=int(n <= 2), in_flight=3) for n in range(1, 11)]
    level = advice(made).levels[0]
    assert (level.in_flight, level.calls, level.latency_p50_s, level.latency_p95_s) == (3, 10, 5.5, 10)
    assert level.rate_limited == pytest.approx(0.2)


def worker_line() -> str:
    """Return a line as the worker writes it."""
    call = LoggedCall(
        outcome="ok",
        latency_s=812.5,
        input_tokens=10,
        output_tokens=20,
        cost_usd=0.1,
        rate_limited=2,
        in_flight_at_start=4,
    )
    log = CallLog(namespace="Headway", stage="prod", lane="heavy", model="m")
    return log.line(call, Origin(job_id=uuid.uuid4(), step_id=uuid.uuid4(), attempt=1))


def test_the_workers_own_lines_are_read(tmp_path: Path) -> None:
    """Behind a prefix, among other lines, and in CloudWatch Logs' export of events."""
    line = worker_line()
    expected = [Call(latency_s=812.5, rate_limited=2, in_flight=4)]
    lines, export = tmp_path / "worker.log", tmp_path / "export.json"
    lines.write_text(f'booting\n2026-11-29T10:00:00Z {line}\n{{"CallLatency": "?"}}\n', encoding="utf-8")
    export.write_text(json.dumps({"events": [{"message": line}, {"message": "other"}]}, indent=1), encoding="utf-8")
    assert read_calls(lines) == expected
    assert read_calls(export) == expected


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"\xff\xfe", "not UTF-8 text"),
        (b"nothing\n", "no call in it; a line of the per-call log has CallLatency"),
        (b'{"events": []}', "no call in it; a line of the per-call log has CallLatency"),
        (b'{"CallLatency": []}\n{"CallLatency": [-1]}\n', "no call in it; a line of the per-call log has CallLatency"),
    ],
)
def test_a_log_that_cannot_be_used_is_one_line(content: bytes | None, says: str, tmp_path: Path) -> None:
    """Missing, no text, no call, a call without a latency."""
    path = tmp_path / "calls.log"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CallLogError) as refused:
        read_calls(path)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
