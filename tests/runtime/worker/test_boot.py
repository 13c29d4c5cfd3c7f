"""A worker that cannot work says why in one line, with the exit code of its kind."""

import dataclasses
from typing import Any

import pytest

from headway_ops.local.ports import free_port
from tests.runtime.support.proxy import FaultProxy
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import Stage

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
