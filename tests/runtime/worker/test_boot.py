"""A worker that cannot work says why in one line, with the exit code of its kind."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from headway_ops.local.ports import free_port
from tests.runtime.support.proxy import FaultProxy
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import REGION, Stage

#: The pauses between attempts are over at once.
_QUICK: dict[str, Any] = {"speed": 100.0, "soft_time_limit_s": 3_000, "time_limit_s": 3_500}


def _boot(stage: Stage, **values: Any) -> tuple[int, str]:
    with stage.worker(**{**_QUICK, **values}) as worker:
        return worker.process.wait(60), worker.log


def _is_one_line(said: str, start: str) -> bool:
    return said.startswith(f"headway.worker: {start}") and said.count("\n") == 1


def test_a_missing_queue_is_configuration(stage: Stage) -> None:
    """Exit 3: no waiting makes it appear."""
    stage.sqs.delete_queue(QueueUrl=stage.queue_urls["heavy"])
    code, said = _boot(stage)
    assert code == 3
    assert _is_one_line(said, f"lane heavy: {stage.queue_urls['heavy']}: ")
    assert "NonExistentQueue" in said or "QueueDoesNotExist" in said


def test_a_visibility_timeout_shorter_than_two_beats_is_configuration(stage: Stage) -> None:
    """Exit 3: messages would be taken back while their work lives. The queue has 3 s, two beats of 2 s need 4."""
    code, said = _boot(stage, lease_beat_s=2)
    assert code == 3
    assert _is_one_line(said, "lane heavy: its queue's visibility timeout is 3 s, a beat every 2 s needs 4 s")


def test_a_visibility_timeout_that_only_differs_is_a_warning(stage: Stage) -> None:
    """A deployment may have changed the queue before its workers: they go on."""
    with stage.worker(visibility_timeout_s=5) as worker:
        worker.wait_until_ready()
        assert "its queue's visibility timeout is 3 s, this worker was told 5 s" in worker.log


def test_a_queue_of_another_region_is_configuration(stage: Stage) -> None:
    """Exit 3: requests are signed for the worker's own region, and would be refused one by one."""
    urls = {**stage.queue_urls, "heavy": "https://sqs.eu-west-1.amazonaws.com/1/heavy"}
    code, said = _boot(stage, queue_urls=urls)
    assert code == 3
    assert _is_one_line(said, f"lane heavy: its URL is eu-west-1's, HEADWAY_REGION is {REGION}; must match")


def test_a_denied_queue_is_configuration(stage: Stage, emulator: str) -> None:
    """Exit 3: the role lacks a permission."""
    proxy = FaultProxy(emulator)
    proxy.break_next(99, "AccessDenied", "GetQueueAttributes")
    with serving(proxy):
        code, said = _boot(stage, sqs_endpoint=proxy.url)
    assert code == 3
    assert _is_one_line(said, f"lane heavy: {stage.queue_urls['heavy']}: AccessDenied")


@pytest.mark.parametrize("values", [{"pool": "gevent"}, {"lane": "express"}])
def test_a_setting_that_cannot_be_used_is_configuration(stage: Stage, values: dict[str, str]) -> None:
    """Exit 3, before anything is asked."""
    code, said = _boot(stage, **values)
    assert code == 3
    assert _is_one_line(said, "HEADWAY_")


def test_a_job_store_without_tables_is_unreachable(stage: Stage, empty_database: Any) -> None:
    """Exit 4: the migration may still be on its way, ECS starts another."""
    stage.secret = empty_database
    code, said = _boot(stage)
    assert code == 4
    assert _is_one_line(said, "job store: not upgraded; run")


def test_a_job_store_that_does_not_answer_is_unreachable(stage: Stage) -> None:
    """Exit 4, after a few tries."""
    stage.secret = dataclasses.replace(stage.secret, port=free_port())
    code, said = _boot(stage)
    assert code == 4
    assert _is_one_line(said, "job store: ")


#: Kills the pool's first children as soon as they exist, and waits until they are dead.
_KILLS = """
import os, signal
fork, left = os.fork, int(os.environ["CHILDREN_TO_KILL"])
def fork_and_kill():
    global left
    pid = fork()
    if pid and left:
        left -= 1
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    return pid
os.fork = fork_and_kill
"""


@pytest.mark.parametrize("killed", [1, 2])
def test_a_pool_whose_processes_are_killed_while_they_start_ends_the_worker(
    stage: Stage, tmp_path: Path, killed: int
) -> None:
    """Exit 5, with one line and no traceback, be it one of two processes or both; a message in the lane stays there."""
    (tmp_path / "sitecustomize.py").write_text(_KILLS)
    stage.send_step(stage.pending_step())
    around = {"PYTHONPATH": str(tmp_path), "CHILDREN_TO_KILL": str(killed)}
    with stage.worker(concurrency=2, surroundings=around) as worker:
        assert worker.process.wait(60) == 5
        said = worker.log.splitlines()
    assert sum("exited with 'signal 9 (SIGKILL)'" in line for line in said) == killed
    (why,) = [line for line in said if line.startswith("CRITICAL")]
    assert "a process of the pool was gone before the first message" in why
    assert not any("Traceback" in line for line in said)
    assert stage.counts() == (1, 0)
