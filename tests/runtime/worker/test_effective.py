"""What ``headway worker --print-config`` says is what a worker runs with."""

import json
import os
import subprocess
import sys
from typing import Any

import celery

from headway.worker import configure
from headway.worker.effective import effective, ignored
from tests.runtime.support.stage import Stage


def _printed(stage: Stage, *options: str, **values: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "headway.worker", "--print-config", *options]
    env = stage.worker_variables(**values)
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=True)


def test_each_value_comes_with_its_source(stage: Stage) -> None:
    """A stage's own values name their variable, the others are the package's; nothing is consumed."""
    printed = json.loads(_printed(stage, "--json", wait_time_s=7).stdout)
    found = {row["name"]: (row["value"], row["source"]) for row in printed["settings"]}
    assert found["broker_transport_options.wait_time_seconds"] == ("7", "HEADWAY_WAIT_TIME_S")
    assert found["task_acks_late"] == ("True", "Headway")
    assert found["worker_concurrency"] == ("2", "HEADWAY_CONCURRENCY")
    assert found["FAST_QUEUE"] == ("", "FAST_QUEUE (not set: its default)")
    assert printed["warnings"] == []


def test_people_get_columns_and_no_secret(stage: Stage) -> None:
    """One line a value; the model's key and the job store's password are not among them."""
    shown = _printed(stage).stdout
    assert "task_acks_late " in shown
    assert "MODEL_API_KEY" not in shown
    assert stage.secret.password not in shown.split()


def test_the_last_word_is_celerys(stage: Stage) -> None:
    """A team that overrides a value after the call sees its own."""
    app = celery.Celery("theirs", set_as_current=False)
    env = stage.worker_env()
    configure(app, env)
    app.conf.task_acks_late = False
    found = {setting.name: setting.value for setting in effective(app, env, os.environ).settings}
    assert found["task_acks_late"] == "False"


def test_options_that_kombu_ignores_are_named() -> None:
    """Kombu's manual has them; beside predefined queues nothing reads them."""
    options = {
        "visibility_timeout": 3_600,
        "predefined_queues": {"heavy": {"url": "u", "visibility_timeout": 3_600}},
        "wait_time_seconds": 20,
    }
    first, second = ignored(options)
    assert first.startswith("broker_transport_options.visibility_timeout is ignored: ")
    assert second.startswith("broker_transport_options.predefined_queues.heavy.visibility_timeout is ignored: ")


def test_an_unknown_fast_lane_is_the_main_lane_with_one_warning(stage: Stage) -> None:
    """A task that sends to it still finds a queue."""
    shown = _printed(stage, fast_queue="express")
    assert shown.stderr.splitlines() == ["no lane 'express': what is sent to it goes to heavy"]
    assert f'"express": {{"url": "{stage.queue_urls["heavy"]}"}}' in shown.stdout
