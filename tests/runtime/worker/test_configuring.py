"""Anyone's Celery app becomes a worker of the lanes by one call."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import celery
import pytest

from headway.contract import ContractError
from headway.worker import configure
from tests.runtime.support.stage import Stage, celery_body
from tests.runtime.support.waiting import until

#: A team's own module: its app, the call, and a task that knows nothing of Headway.
MODULE = """
import os, pathlib, time
import celery
import headway.worker
from headway.contract import WorkerEnv

app = celery.Celery("theirs")

@app.task(name="theirs.note")
def note(path, text):
    pathlib.Path(path).write_text(text)

@app.task(name="theirs.stall")
def stall(path):
    pathlib.Path(path).touch()
    while True:
        time.sleep(60)

@app.task(name="theirs.fail")
def fail():
    raise ValueError("not my day")

headway.worker.configure(app, WorkerEnv.from_env(os.environ))
"""


@contextlib.contextmanager
def _celery(stage: Stage, directory: Path, **values: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run Celery's own command over the team's module."""
    (directory / "theirs.py").write_text(MODULE, encoding="utf-8")
    command = [sys.executable, "-m", "celery", "-A", "theirs", "worker", "-Q", "heavy", "-c", "1", "--loglevel", "INFO"]
    with (directory / "log").open("wb") as log:
        worker = subprocess.Popen(command, cwd=directory, env=stage.worker_variables(**values), stdout=log, stderr=log)
    try:
        yield worker
    finally:
        worker.kill()
        worker.wait()


def test_a_strangers_task_runs_on_a_lane_and_its_message_is_settled(stage: Stage, tmp_path: Path) -> None:
    """Celery's own command consumes the lane: the task runs, its message is deleted, what fails is kept for others."""
    with _celery(stage, tmp_path):
        stage.send_body(celery_body("theirs.note", [str(tmp_path / "note"), "done"], "heavy"))
        until((tmp_path / "note").exists, what="the note")
        until(lambda: stage.counts() == (0, 0), what="the acknowledgement")
        stage.send_body(celery_body("theirs.fail", [], "heavy"))
        until(lambda: "not my day" in (tmp_path / "log").read_text(encoding="utf-8"), what="the failure")
        until(lambda: sum(stage.counts()) == 1, what="the failed message, kept")


def test_a_strangers_task_that_outlasts_a_stop_is_killed_and_its_message_returned(stage: Stage, tmp_path: Path) -> None:
    """It knows nothing of stops: its process is killed in time, and its message is visible long before its timeout."""
    stage.sqs.set_queue_attributes(QueueUrl=stage.queue_urls["heavy"], Attributes={"VisibilityTimeout": "600"})
    with _celery(stage, tmp_path, visibility_timeout_s=600, lease_beat_s=200, stop_timeout_s=6) as worker:
        stage.send_body(celery_body("theirs.stall", [str(tmp_path / "stalled")], "heavy"))
        until((tmp_path / "stalled").exists, what="the task")
        worker.terminate()
        assert worker.wait(30) == 1
    assert stage.counts() == (1, 0)


def test_an_async_task_is_refused(stage: Stage) -> None:
    """Celery would report success and run nothing."""
    app = celery.Celery("theirs", set_as_current=False)

    @app.task(name="theirs.later", shared=False)
    async def later() -> None:
        """Do nothing."""

    message = r"^task theirs\.later: async def would report success without running"
    configure(app, stage.worker_env())
    with pytest.raises(ContractError, match=message):
        app.finalize()


def test_a_finished_app_is_configured_too(stage: Stage) -> None:
    """The order of the call and of the tasks does not matter."""
    app = celery.Celery("theirs", set_as_current=False)

    @app.task(name="theirs.note", shared=False)
    def note() -> None:
        """Do nothing."""

    app.finalize()
    configure(app, stage.worker_env())
    assert app.conf.task_acks_late is True
    assert app.tasks["theirs.note"].Request == "headway.worker.request:Request"
