"""The process: what it needs, what it says without it, and how it ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from headway_ops.local.ports import free_port
from tests.runtime.jobs.cases import new_job
from tests.runtime.support.stage import KEYS, Stage
from tests.runtime.support.waiting import until
from tests.runtime.support.web import TOKEN, web_env


def variables(stage: Stage, **changes: str) -> dict[str, str]:
    """Return all that a service's process finds in its environment."""
    surroundings = {"PATH": os.environ["PATH"], "AWS_ENDPOINT_URL": stage.endpoint, "WEB_TOKEN": TOKEN}
    return web_env(stage).to_env() | stage.secret.to_env() | KEYS | surroundings | changes


@pytest.fixture
def served(stage: Stage, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str, Path]]:
    """A running process, its address and its log."""
    address, log = f"127.0.0.1:{free_port()}", tmp_path / "web.log"
    command = [sys.executable, "-m", "headway.web"]
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=variables(stage, HEADWAY_BIND=address), stdout=output, stderr=output)
    client = httpx2.Client(base_url=f"http://{address}")

    def answers() -> bool:
        try:
            return client.get("/livez").status_code == 200
        except httpx2.TransportError:
            assert process.poll() is None, log.read_text()
            return False

    until(answers, what="the service")
    yield process, f"http://{address}", log
    client.close()
    process.kill()
    process.wait()


def test_sigterm_ends_it_well_though_a_stream_is_open(
    stage: Stage, served: tuple[subprocess.Popen[bytes], str, Path]
) -> None:
    """The stream ends, the process exits with 0, and its log has no traceback."""
    process, url, log = served
    job_id = new_job(stage.engine)
    with (
        httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30) as client,
        client.stream("GET", f"/jobs/{job_id}/events") as events,
    ):
        lines = events.iter_lines()
        assert next(lines) == "event: job"
        process.send_signal(signal.SIGTERM)
        assert "event: end" not in list(lines)
    assert process.wait(30) == 0
    assert "Traceback" not in log.read_text()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"WEB_TOKEN": ""}, "WEB_TOKEN is required"),
        ({"WEB_TOKEN": "short"}, "WEB_TOKEN has 5 characters; must have 32 or more"),
        ({"DATABASE_HOST": ""}, "DATABASE_HOST is required"),
        ({"HEADWAY_PORT": "http"}, "HEADWAY_PORT must be an integer, got 'http'"),
        ({"HEADWAY_BIND": "8080"}, "HEADWAY_BIND must be host:port, got '8080'"),
        ({"HEADWAY_MAIN_LANE": "none"}, "HEADWAY_MAIN_LANE = 'none': no such lane in HEADWAY_QUEUE_URLS"),
    ],
)
def test_what_is_missing_is_one_line_and_exit_three(stage: Stage, changes: dict[str, str], message: str) -> None:
    """No traceback: the variable, and what it must be."""
    run = subprocess.run(
        [sys.executable, "-m", "headway.web"],
        env=variables(stage, **changes),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (3, "", f"headway.web: {message}\n")
