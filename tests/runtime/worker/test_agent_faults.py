"""An agent that throttles, fails, hangs, or outlives its task: on the real worker, nothing starts unprotected."""

import itertools
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from headway.jobs import StepStatus
from tests.runtime.support.agent import AgentServer, exception
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until

#: Stage time twenty times as fast: a linger of 15 s is 0.75 s on this wall.
_QUICK: dict[str, Any] = {
    "protection": True,
    "speed": 20.0,
    "soft_time_limit_s": 1_200,
    "time_limit_s": 1_400,
    "model_timeout_s": 1_000,
}


@pytest.fixture
def agent() -> Iterator[AgentServer]:
    """An ECS agent."""
    server = AgentServer()
    with serving(server):
        yield server
        server.answering.set()


def _wants(agent: AgentServer) -> list[bool]:
    return [body["ProtectionEnabled"] for _, body in agent.asked]


@pytest.mark.parametrize(
    "answers",
    [
        [(429, exception("ThrottlingException")), (400, exception("InvalidParameterException"))],
        [(500, exception("ServerException")), (504, exception("RequestCanceled")), (200, b"<html>")],
    ],
)
def test_an_answer_that_grants_nothing_starts_nothing(
    stage: Stage, agent: AgentServer, answers: list[tuple[int, Any]]
) -> None:
    """Throttled, refused, failed, ECS too slow behind it, garbage: nothing is received, and one call once it grants."""
    agent.answers += answers
    step_id = stage.pending_step()
    at_call: list[tuple[bool, int]] = []
    stage.model.on_asked = lambda: at_call.append((agent.protected, len(agent.asked)))
    with stage.worker(agent_uri=agent.url, **_QUICK) as worker:
        stage.send_step(step_id)
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, within_s=60, what="the step")
        assert worker.process.poll() is None
        refusals = [line["ProtectionRefused"] for line in worker.metrics if "ProtectionRefused" in line]
    assert at_call == [(True, len(answers) + 1)]
    assert refusals == [[1.0]] * len(answers)


def test_an_agent_that_hangs_starts_nothing(stage: Stage, agent: AgentServer) -> None:
    """The question is given up after some seconds, nothing is received, and the step runs once it is answered."""
    agent.answering.clear()
    step_id = stage.pending_step()
    with stage.worker(agent_uri=agent.url, **_QUICK) as worker:
        stage.send_step(step_id)
        until(lambda: "protection refused: the agent cannot be reached" in worker.log, what="the end of patience")
        assert stage.model.asked == []
        agent.answering.set()
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")


def test_protection_is_renewed_while_a_call_runs(stage: Stage, agent: AgentServer) -> None:
    """A protection of one minute under a call of three: no moment without it."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    with stage.worker(agent_uri=agent.url, protection_min=1, **_QUICK):
        stage.send_step(step_id)
        until(lambda: len(agent.granted) == 6, what="five renewals")
        stage.model.gate.set()
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
    granted = [at for at, _, minutes in agent.granted if minutes]
    minute_s = 60 / _QUICK["speed"]
    assert max(later - at for at, later in itertools.pairwise(granted)) < minute_s


def test_a_release_that_fails_is_tried_again_and_the_result_is_kept(stage: Stage, agent: AgentServer) -> None:
    """The agent fails once: asked twice to release, and the step stays as it ended."""
    step_id = stage.pending_step()
    with stage.worker(agent_uri=agent.url, **_QUICK):
        stage.send_step(step_id)
        until(lambda: stage.model.asked, what="the call")
        agent.answers.append((500, exception("ServerException")))
        until(lambda: not agent.protected, what="the release")
        assert _wants(agent) == [True, False, False]
        assert stage.step_status(step_id) is StepStatus.SUCCEEDED


def test_a_killed_task_leaves_its_message_to_the_next(stage: Stage, agent: AgentServer) -> None:
    """Its protection has an end of its own; the next task asks for another before it calls."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    with stage.worker(agent_uri=f"{agent.url}/first", **_QUICK) as first:
        stage.send_step(step_id)
        until(lambda: stage.model.asked, what="the call")
        first.process.kill()
        first.process.wait()
        stage.model.gate.set()
    with stage.worker(agent_uri=f"{agent.url}/second", **_QUICK):
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
    assert [(task, minutes) for _, task, minutes in agent.granted][:2] == [("first", 30), ("second", 30)]
    assert len(stage.model.asked) == 2


def test_protection_lasts_until_the_last_slot_ends(stage: Stage, agent: AgentServer) -> None:
    """One of two calls ends: for longer than the linger the other one stays protected, and then it is released."""
    steps = [stage.pending_step(), stage.pending_step()]
    numbers, last = itertools.count(), threading.Event()
    stage.model.on_asked = lambda: next(numbers) == 0 or last.wait(30)
    with stage.worker(agent_uri=agent.url, **_QUICK):
        for step_id in steps:
            stage.send_step(step_id)
        until(lambda: StepStatus.SUCCEEDED in map(stage.step_status, steps), what="one step")
        ends = time.monotonic() + 2.0
        until(lambda: not agent.protected or time.monotonic() > ends, what="forty stage seconds")
        assert _wants(agent) == [True]
        last.set()
        until(lambda: not agent.protected, what="the release")
    assert {stage.step_status(step_id) for step_id in steps} == {StepStatus.SUCCEEDED}
