"""The barrier on the real worker, against a server that answers as the ECS agent does."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from headway.jobs import StepStatus
from tests.runtime.support.agent import AgentServer
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until

#: Stage seconds in a wall second: the linger of 15 s and the first pause of 5 s are over quickly.
_SPEED = 10.0
#: Durations that are still seconds at that speed.
_LONG: dict[str, Any] = {"soft_time_limit_s": 600, "time_limit_s": 700, "model_timeout_s": 300, "speed": _SPEED}


@pytest.fixture
def agent() -> Iterator[AgentServer]:
    """An ECS agent."""
    server = AgentServer()
    with serving(server):
        yield server


def test_protection_spans_the_work(stage: Stage, agent: AgentServer) -> None:
    """Acquired before the first of two calls, held until both have ended, released after the last: two requests."""
    steps = [stage.pending_step(), stage.pending_step()]
    stage.model.gate.clear()
    protected_at_call = []
    stage.model.on_asked = lambda: protected_at_call.append(agent.protected)
    with stage.worker(protection=True, agent_uri=agent.url, **_LONG) as worker:
        worker.wait_until_ready()
        assert agent.asked == []
        for step_id in steps:
            stage.send_step(step_id)
        until(lambda: len(stage.model.asked) == 2, what="both calls")
        assert protected_at_call == [True, True]
        stage.model.gate.set()
        until(lambda: not agent.protected, what="the release")
        assert all(stage.step_status(step_id) is StepStatus.SUCCEEDED for step_id in steps)
        assert [body["ProtectionEnabled"] for _, body in agent.asked] == [True, False]
        assert worker.terminate() == 0


def test_a_refusal_sends_the_message_back_at_once(stage: Stage, agent: AgentServer) -> None:
    """DEPLOYMENT_BLOCKED: no call, the message visible again, polling paused; granted later, the step runs."""
    agent.refusing = True
    step_id = stage.pending_step()
    with stage.worker(protection=True, agent_uri=agent.url, wait_time_s=5, speed=1.0) as worker:
        worker.wait_until_ready()
        stage.send_step(step_id)
        until(lambda: agent.asked, what="the question")
        refused = time.monotonic()
        until(lambda: stage.counts() == (1, 0), within_s=2, what="the message visible again")
        assert stage.model.asked == []
        assert stage.step_status(step_id) is StepStatus.PENDING
        agent.refusing = False
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
        # The first pause is 5 s.
        assert time.monotonic() - refused >= 4.5
        assert worker.process.poll() is None


def test_a_second_refusal_keeps_the_message_away(stage: Stage, agent: AgentServer) -> None:
    """Refused again after the first pause, it stays hidden: its receives are not used up in seconds."""
    agent.refusing = True
    stage.send_step(stage.pending_step())
    with stage.worker(protection=True, agent_uri=agent.url, **_LONG):
        until(lambda: len(agent.asked) == 2, what="two questions")
        # The second pause is 10 stage seconds, the message is away for 30: one and three on this wall.
        ends = time.monotonic() + 2.5
        until(lambda: len(agent.asked) > 2 or time.monotonic() > ends, what="the pause to be over")
        assert len(agent.asked) == 2
        assert stage.counts() == (0, 1)
        until(lambda: len(agent.asked) == 3, what="the third question")
    assert stage.model.asked == []


def test_protection_is_released_at_the_end(stage: Stage, agent: AgentServer) -> None:
    """A worker that is told to stop while it lingers leaves no protection behind."""
    step_id = stage.pending_step()
    with stage.worker(protection=True, agent_uri=agent.url, speed=1.0) as worker:
        stage.send_step(step_id)
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
        assert agent.protected
        assert worker.terminate() == 0
    assert not agent.protected


def test_a_stop_hands_back_what_waits_for_an_answer(stage: Stage, agent: AgentServer) -> None:
    """The agent does not answer, SIGTERM comes: the message is visible again, and nothing was called."""
    agent.answering.clear()
    step_id = stage.pending_step()
    with stage.worker(protection=True, agent_uri=agent.url) as worker:
        worker.wait_until_ready()
        stage.send_step(step_id)
        until(lambda: agent.asked, what="the question")
        assert worker.terminate() == 0
        assert stage.counts() == (1, 0)
        agent.answering.set()
    assert stage.model.asked == []


def test_a_worker_off_ecs_says_so_once_and_works(stage: Stage) -> None:
    """Protection is on, and there is no agent to ask."""
    step_id = stage.pending_step()
    with stage.worker(protection=True) as worker:
        stage.send_step(step_id)
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
        assert worker.log.count("no ECS_AGENT_URI") == 1
