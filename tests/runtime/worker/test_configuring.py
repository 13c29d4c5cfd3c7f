"""Anyone's Celery app becomes a worker of the lanes by one call."""

import subprocess
import sys
from pathlib import Path

import celery
import pytest

from headway.contract import ContractError
from headway.worker import configure
from tests.runtime.support.stage import Stage, celery_body
from tests.runtime.support.waiting import until

#: A team's own module: its app, the call, and a task that knows nothing of Headway.
MODULE = """
import os, pathlib
import celery
import headway.worker
from headway.contract import WorkerEnv

app = celery.Celery("theirs")

@app.task(name="theirs.note")
def note(path, text):
    pathlib.Path(path).write_text(text)

@app.task(name="theirs.fail")
def fail():
    raise ValueError("not my day")

headway.worker.configure(app, WorkerEnv.from_env(os.environ))
"""


def test_a_strangers_task_runs_on_a_lane_and_its_message_is_settled(stage: Stage, tmp_path: Path) -> None:
    """Celery's own command consumes the lane: the task runs, its message is deleted, what fails is kept for others."""
    (tmp_path / "theirs.py").write_text(MODULE, encoding="utf-8")
    command = [sys.executable, "-m", "celery", "-A", "theirs", "worker", "-Q", "heavy", "-c", "1", "--loglevel", "INFO"]
    with (tmp_path / "log").open("wb") as log:
        worker = subprocess.Popen(command, cwd=tmp_path, env=stage.worker_variables(), stdout=log, stderr=log)
    try:
        stage.send_body(celery_body("theirs.note", [str(tmp_path / "note"), "done"], "heavy"))
        until((tmp_path / "note").exists, what="the note")
        until(lambda: stage.counts() == (0, 0), what="the acknowledgement")
        stage.send_body(celery_body("theirs.fail", [], "heavy"))
        until(lambda: "not my day" in (tmp_path / "log").read_text(encoding="utf-8"), what="the failure")
        until(lambda: sum(stage.counts()) == 1, what="the failed message, kept")
    finally:
        worker.kill()
        worker.wait()


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
