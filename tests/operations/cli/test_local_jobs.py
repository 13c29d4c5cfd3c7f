"""Jobs of a whole stage that people cancel, that nobody ends, and that outlive their database: by the commands."""

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
import pytest
import sqlalchemy as sa

from headway.jobs import connect
from headway.jobs.tallies import tally
from headway_ops.demo.drawings import draw
from headway_ops.local.running import LocalStage
from tests.operations.cli.running import attach, headway
from tests.operations.cli.test_local_stage import SPEED, counts, jobs, truth
from tests.runtime.support.waiting import until

pytestmark = [pytest.mark.local_stage, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this module's stage lives."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def stage(state: Path) -> Iterator[LocalStage]:
    """A stage that ``headway up`` left running: its deployment has migrated its job store."""
    done = headway("up", "--speed", SPEED, state=state)
    assert done.returncode == 0, done.stderr
    yield attach(state)
    headway("down", state=state)


@pytest.fixture
def engine(stage: LocalStage) -> Iterator[sa.Engine]:
    """The stage's jobs, seen by the login that its services use."""
    made = connect(stage.database)
    yield made
    made.dispose()


def submitted(state: Path, seed: int, *, blocks: int) -> UUID:
    """Submit a drawing and return its job's id."""
    drawing = draw(seed, blocks=blocks)
    (state / drawing.name).write_bytes(drawing.data)
    done = headway("submit", state / drawing.name, "--json", state=state)
    assert done.returncode == 0, done.stderr
    return UUID(json.loads(done.stdout)["job"])


def calls(stage: LocalStage, job: UUID) -> list[dict[str, Any]]:
    """Return what the model's server has written down of a job's calls."""
    log = Path(stage.emulator.directory) / "calls.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [line for line in map(json.loads, lines) if line.get("job") == str(job)]


def test_a_canceled_job_makes_no_call_that_begins_after_it(stage: LocalStage, state: Path, engine: sa.Engine) -> None:
    """Twelve steps, some called for and some in the lane: the calls are given up, the lane drains without another."""
    job = submitted(state, 31, blocks=6)
    until(lambda: stage.model_usage()["in_flight"] > 0, within_s=90, what="a call")
    done = headway("cancel", str(job), "--reason", "wrong sheet", state=state)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{job}  canceled by ")
    assert done.stdout.endswith(": wrong sheet\n")
    again = headway("cancel", str(job), "--json", state=state)
    assert (again.returncode, json.loads(again.stdout)["outcome"]) == (0, "already")
    until(lambda: stage.model_usage()["in_flight"] == 0, within_s=60, what="the calls given up")
    sqs, env = stage.client("sqs"), _queues(stage)
    until(lambda: not any(_messages(sqs, url) for url in env), within_s=90, what="the lanes empty")
    assert {call["outcome"] for call in calls(stage, job)} <= {"abandoned", "answered"}
    assert "abandoned" in {call["outcome"] for call in calls(stage, job)}
    with engine.connect() as connection:
        query = sa.text("SELECT finished_at, clock_timestamp() FROM jobs WHERE id = :job")
        ended, _ = connection.execute(query, {"job": job}).one()
        accepted = connection.execute(
            sa.text("SELECT count(*) FROM steps WHERE job_id = :job AND finished_at > :at AND status <> 'canceled'"),
            {"job": job, "at": ended},
        ).scalar_one()
    assert accepted == 0
    assert len(calls(stage, job)) < 12


def _queues(stage: LocalStage) -> list[str]:
    return [url for url in stage.client("sqs").list_queues()["QueueUrls"] if "Dead" not in url]


def _messages(sqs: Any, url: str) -> int:
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    return sum(int(attributes[f"ApproximateNumberOfMessages{kind}"]) for kind in ("", "NotVisible"))


def test_jobs_are_found_by_state_and_age(stage: LocalStage, state: Path) -> None:
    """The canceled one is there, and no job is a day old."""
    assert headway("jobs", "--status", "running", "--older-than", "1h", state=state).returncode == 0
    found = json.loads(headway("jobs", "--status", "canceled", "--json", state=state).stdout)
    assert [job["name"] for job in found] == ["drawing-31.png"]
    assert json.loads(headway("jobs", "--older-than", "1d", "--json", state=state).stdout) == []


def test_a_cancel_says_what_it_cannot_cancel(stage: LocalStage, state: Path) -> None:
    """An unknown job and a finished one are a line each, exit 1."""
    job = submitted(state, 32, blocks=2)
    until(lambda: jobs(state)["drawing-32.png"]["status"] == "succeeded", within_s=120, what="the job")
    done = headway("cancel", str(job), str(UUID(int=0)), state=state)
    unknown = f"headway: job {UUID(int=0)} not found\n"
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"headway: job {job} already succeeded\n{unknown}"


def test_the_job_store_is_the_one_of_this_release(stage: LocalStage, state: Path) -> None:
    """The deployment migrated it; nothing is pending, and another upgrade changes nothing."""
    assert headway("db", "check", state=state).returncode == 0
    assert headway("db", "upgrade", state=state).returncode == 0
    assert json.loads(headway("db", "check", "--json", state=state).stdout) == {"pending": []}


def test_the_reconciler_runs_by_itself_and_by_hand(stage: LocalStage, state: Path) -> None:
    """Its schedule has started it, it ended well, and a run by hand finds nothing to do."""
    until(lambda: [e for e in stage.events() if e["kind"] == "ended" and "Reconciler" in e["subject"]], within_s=60)
    ended = [e["exit_code"] for e in stage.events() if e["kind"] == "ended" and "Reconciler" in e["subject"]]
    assert set(ended) == {0}
    assert headway("reconcile", "--dry-run", state=state).stdout == ""
    done = json.loads(headway("reconcile", "--once", "--json", state=state).stdout)
    assert (done["swept"], done["requeued"], done["buried"], done["errors"]) == (0, 0, 0, 0)


def test_every_job_ends_though_the_job_store_is_killed_in_the_middle(
    stage: LocalStage, state: Path, engine: sa.Engine
) -> None:
    """PostgreSQL is killed while calls run, and started again: each step is answered once, and every count is right."""
    seeds = range(41, 45)
    submitted_jobs = {seed: submitted(state, seed, blocks=3) for seed in seeds}
    until(lambda: stage.model_usage()["in_flight"] >= 4, within_s=120, what="calls")
    server = _postmaster(stage)
    command, folder, user = server.cmdline(), server.cwd(), server.uids().real
    processes = [server, *server.children()]
    for process in processes:
        process.kill()
    until(lambda: not any(_lives(process) for process in processes), what="its end")
    # What was killed is not buried by its parent, and would be taken for another server on the same data.
    (Path(command[command.index("-D") + 1]) / "postmaster.pid").unlink()
    again = subprocess.Popen(command, cwd=folder, user=user, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        names = {f"drawing-{seed}.png" for seed in seeds}
        until(lambda: _ended(state, names), within_s=200, what="every job's end")
        for seed, job in submitted_jobs.items():
            view = json.loads(headway("status", str(job), "--json", state=state).stdout)
            assert counts(view) == truth(draw(seed, blocks=3))
            answered = Counter(call["step"] for call in calls(stage, job) if call["outcome"] == "answered")
            assert sorted(answered.values()) == [1] * 6
        assert tally(engine).steps_called_twice == 0
    finally:
        again.send_signal(signal.SIGINT)  # a fast shutdown: it waits for nobody
        again.wait(20)


def _postmaster(stage: LocalStage) -> psutil.Process:
    address = (stage.database.host, stage.database.port)
    listening = (c for c in psutil.net_connections("tcp") if c.status == "LISTEN" and tuple(c.laddr) == address)
    return psutil.Process(next(connection.pid for connection in listening if connection.pid))


def _lives(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def _ended(state: Path, names: set[str]) -> bool:
    done = headway("status", "--json", state=state)
    if done.returncode:
        return False
    found = {job["name"]: job["status"] for job in json.loads(done.stdout)}
    return all(found[name] == "succeeded" for name in names)
