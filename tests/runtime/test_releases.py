"""A deployment runs two releases side by side: each takes what the other sends, on the newer one's job store."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

import alembic.command
import pytest

from headway.contract import DatabaseSecret
from headway.jobs import JobStatus, connect, job_view, migrate
from headway_ops.local.postgres import Server
from headway_ops.local.project import PROJECT
from tests.runtime.support.drawings import drawing
from tests.runtime.support.stage import KEYS, Stage
from tests.runtime.support.waiting import until

#: The release before this one, by its commit: what a deployment of this one rolls over. A release moves it on.
PREVIOUS = "0149a0c7d4aa72912259bead376a8e56fce2d9c1"

#: A release's own producer, told by its own contract.
SUBMIT = """
import os, sys
from pathlib import Path
from headway.contract import DatabaseSecret, ProducerEnv
from headway.producer import Producer
producer = Producer(ProducerEnv.from_env(os.environ), DatabaseSecret.from_env(os.environ))
print(producer.submit(Path(sys.argv[1]).read_bytes(), "plan.png"))
"""


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runtime folder of the release before."""
    there = subprocess.run(["git", "cat-file", "-e", PREVIOUS], cwd=PROJECT, capture_output=True, check=False)
    if there.returncode:
        pytest.skip(f"no commit {PREVIOUS[:7]} here: a shallow clone, or no git")
    folder = tmp_path_factory.mktemp("previous")
    archive = subprocess.run(["git", "archive", PREVIOUS, "runtime"], cwd=PROJECT, capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    runtime = folder / "runtime"
    where = [sys.executable, "-c", "import headway; print(headway.__file__)"]
    env = {"PATH": os.environ["PATH"], **_of(runtime)}
    found = subprocess.run(where, env=env, capture_output=True, text=True, check=True).stdout
    assert found.startswith(str(runtime))
    return runtime


def _of(runtime: Path | None) -> dict[str, str]:
    """Return what makes a process one of another release; None is this one."""
    return {"PYTHONPATH": str(runtime)} if runtime else {}


def submit(stage: Stage, runtime: Path | None, folder: Path) -> uuid.UUID:
    """Submit a drawing of two blocks by a release's producer."""
    path = folder / "plan.png"
    path.write_bytes(drawing(2))
    env = {
        "PATH": os.environ["PATH"],
        "AWS_ENDPOINT_URL": stage.endpoint,
        **KEYS,
        **stage.producer_env().to_env(),
        **stage.secret.to_env(),
        **_of(runtime),
    }
    command = [sys.executable, "-c", SUBMIT, str(path)]
    return uuid.UUID(subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.strip())


def finish(stage: Stage, *jobs: uuid.UUID) -> list[JobStatus]:
    """Wait until the jobs have ended, and return how."""

    def ended() -> list[JobStatus]:
        views = [job_view(stage.engine, job) for job in jobs]
        done = [view.summary.status for view in views if view and view.summary.finished_at]
        return done if len(done) == len(jobs) else []

    return until(ended, within_s=90, what="jobs of two releases")


def test_each_releases_worker_takes_each_releases_messages(stage: Stage, previous: Path, tmp_path: Path) -> None:
    """Producer and worker, before and now: four pairs, four jobs that succeed, nothing among the dead letters."""
    for worker in (previous, None):
        jobs = [submit(stage, producer, tmp_path) for producer in (previous, None)]
        with stage.worker(surroundings=_of(worker)):
            assert finish(stage, *jobs) == [JobStatus.SUCCEEDED] * 2
    assert stage.dead_letters() == {}


def test_both_releases_work_on_one_lane_at_once(stage: Stage, previous: Path, tmp_path: Path) -> None:
    """As in the middle of a rolling deployment: what either sends on, either takes; no step is called twice."""
    stage.model.gate.clear()
    jobs = [submit(stage, producer, tmp_path) for producer in (previous, None, previous, None)]
    with stage.worker(surroundings=_of(previous)) as old, stage.worker() as new:
        # No call ends before both have all their slots full: two each.
        until(lambda: len(stage.model.asked) == 4, what="calls of both releases")
        stage.model.gate.set()
        assert finish(stage, *jobs) == [JobStatus.SUCCEEDED] * 4
        assert old.metrics
        assert new.metrics
    # Two blocks and two checks a job.
    assert len(stage.model.asked) == 4 * 2 * 2
    assert stage.dead_letters() == {}


def test_a_job_store_that_is_not_migrated_yet_is_refused_in_one_line(
    stage: Stage, empty_database: DatabaseSecret, postgres_server: Server
) -> None:
    """At the revision before the newest: this release's worker says what to run, and exits 4."""
    owner = postgres_server.owner_secret
    secret = DatabaseSecret(**{**vars(empty_database), "username": owner.username, "password": owner.password})
    engine = connect(secret)
    config = migrate._config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        alembic.command.upgrade(config, "head-1")
    engine.dispose()
    stage.secret = secret
    with stage.worker(speed=100.0) as worker:
        assert worker.process.wait(60) == 4
        assert worker.log == "headway.worker: job store: not upgraded; run `python -m headway.jobs upgrade`\n"
