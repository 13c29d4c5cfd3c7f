"""The barrier on the real worker, against a server that answers as the ECS agent does."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest

from headway.jobs import StepStatus
from headway.worker.polls import Polls
from tests.runtime.support.agent import AgentServer
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until

#: Stage seconds in a wall second: the linger of 25 s and the first pause of 5 s are over quickly.
_SPEED = 10.0
#: Durations that are still seconds at that speed.
_LONG: dict[str, Any] = {"soft_time_limit_s": 600, "time_limit_s": 700, "model_timeout_s": 300, "speed": _SPEED}


@pytest.fixture
def agent() -> Iterator[AgentServer]:
    """An ECS agent."""
    server = AgentServer()
    with serving(server):
        yield server


def _wait_until_proven(agent: AgentServer) -> None:
    """Wait until a new worker was granted protection, has let it go, and polls; forget what it asked."""
    until(lambda: [body["ProtectionEnabled"] for _, body in agent.asked] == [True, False], what="the first question")
    agent.asked.clear()


def test_protection_spans_the_work(stage: Stage, agent: AgentServer) -> None:
    """Acquired before the first of two calls, held until both have ended, released after the last: two requests."""
    steps = [stage.pending_step(), stage.pending_step()]
    stage.model.gate.clear()
    protected_at_call = []
    stage.model.on_asked = lambda: protected_at_call.append(agent.protected)
    with stage.worker(protection=True, agent_uri=agent.url, **_LONG) as worker:
        _wait_until_proven(agent)
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
    """DEPLOYMENT_BLOCKED: no call, the message visible again, and not received again until protection is granted."""
    step_id = stage.pending_step()
    with stage.worker(protection=True, agent_uri=agent.url, wait_time_s=5, **_LONG) as worker:
        _wait_until_proven(agent)
        agent.refusing = True
        stage.send_step(step_id)
        until(lambda: agent.asked, what="the question")
        until(lambda: stage.counts() == (1, 0), within_s=2, what="the message visible again")
        until(lambda: len(agent.asked) == 4, what="three more questions")
        assert stage.counts() == (1, 0)
        assert stage.model.asked == []
        assert stage.step_status(step_id) is StepStatus.PENDING
        agent.refusing = False
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
        assert worker.process.poll() is None


def test_a_task_that_is_refused_from_the_start_receives_nothing(stage: Stage, agent: AgentServer) -> None:
    """As every new task may be while a deployment's old ones work: the message is left to those that are protected."""
    agent.refusing = True
    stage.send_step(stage.pending_step())
    with stage.worker(protection=True, agent_uri=agent.url, **_LONG):
        until(lambda: len(agent.asked) == 3, what="three questions")
    (received,) = stage.sqs.receive_message(
        QueueUrl=stage.queue_urls["heavy"], MessageSystemAttributeNames=["ApproximateReceiveCount"]
    )["Messages"]
    assert received["Attributes"]["ApproximateReceiveCount"] == "1"


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
    step_id = stage.pending_step()
    with stage.worker(protection=True, agent_uri=agent.url, **_LONG) as worker:
        _wait_until_proven(agent)
        agent.answering.clear()
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


def test_an_idle_worker_begins_nothing_while_the_fleet_is_counted(stage: Stage, agent: AgentServer) -> None:
    """With a reading every 5 s, whose hush is as long, it asks for neither protection nor messages; another one works.

    Were it to begin between a reading and the scale-in that follows, fewer tasks would be desired than work.
    """
    step_id = stage.pending_step()
    with stage.worker(protection=True, agent_uri=agent.url, publish_every_s=5, lazy_below=1, **_LONG) as hushed:
        hushed.wait_until_ready()
        with stage.worker() as other:
            other.wait_until_ready()
            stage.send_step(step_id)
            until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
        assert (agent.asked, hushed.log.count("received")) == ([], 0)


def test_a_worker_that_holds_nothing_looks_when_the_hush_is_over() -> None:
    """The poll is not sent, and comes again when the hush has passed, at a random time of the lazy pause after it."""
    channel, later = Mock(_active_queues={"heavy"}, _lazy=True, wait_time_seconds=20), list[float]()
    channel.connection = Mock(paused=lambda: False, held={}, hush_s=lambda: 3.0, open_polls={})
    channel.transport_options = {"lazy_poll_s": 2.0}
    channel.hub.call_later = lambda delay_s, *_: later.append(delay_s)
    Polls._schedule_queue(channel, "heavy")
    channel._get_async.assert_not_called()
    assert 3.0 <= later[0] <= 5.0
    channel.connection.held = {"handle": "url"}
    Polls._schedule_queue(channel, "heavy")
    channel._get_async.assert_called_once()
