"""Messages come twice, late, or back from the dead; calls do not."""

import signal
import time
from typing import Any

import pytest

from headway.jobs import Claim, StepStatus, claim_step, tally
from tests.runtime.support.proxy import FaultProxy
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until


def test_a_duplicate_of_a_finished_step_calls_nothing(stage: Stage) -> None:
    """The second message finds the result, and is acknowledged."""
    step_id = stage.pending_step()
    with stage.worker() as worker:
        stage.send_step(step_id)
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
        stage.send_step(step_id)
        until(lambda: "already succeeded" in worker.log, what="the duplicate")
        until(lambda: stage.counts() == (0, 0), what="both acknowledged")
    assert len(stage.model.asked) == 1


def test_a_message_whose_step_is_held_comes_back_after_the_lease(stage: Stage) -> None:
    """Somebody else's claim of 3 s, a third of a 12 s time limit: no call while it holds, one call after four."""
    step_id = stage.pending_step()
    with stage.worker(time_limit_s=12, soft_time_limit_s=11, model_timeout_s=8) as worker:
        worker.wait_until_ready()
        claimed = claim_step(stage.engine, step_id, lease_s=3)
        assert isinstance(claimed, Claim)
        looked_again = time.monotonic() + 12 / 3
        stage.send_step(step_id)
        until(lambda: "is held" in worker.log, within_s=2, what="the refusal")
        until(lambda: stage.model.asked, what="the call")
        assert time.monotonic() >= looked_again
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")


def test_a_message_stays_hidden_while_its_work_lives(stage: Stage) -> None:
    """A call of twice the visibility timeout (3 s) is delivered once."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    with stage.worker() as worker:
        stage.send_step(step_id)
        until(lambda: stage.model.asked, what="the call")
        ends = time.monotonic() + 6
        until(lambda: stage.counts() != (0, 1) or time.monotonic() > ends, what="six seconds")
        assert stage.counts() == (0, 1)
        stage.model.gate.set()
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
        assert worker.log.count("received") == 1


def test_a_killed_worker_costs_the_call_it_held(stage: Stage) -> None:
    """SIGKILL in the middle of a call: the message is back within its visibility, the next worker finishes the step."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    with stage.worker() as first:
        stage.send_step(step_id)
        until(lambda: stage.model.asked, what="the call")
        first.process.kill()
        first.process.wait()
        stage.model.gate.set()
    with stage.worker():
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
    assert len(stage.model.asked) == 2
    assert tally(stage.engine).model_calls == 1  # what the first one's call cost, nobody lived to write down


def test_a_lost_pool_process_costs_only_its_own_call(stage: Stage) -> None:
    """One of two busy children is killed: its message goes round again, its sibling's call goes on."""
    steps = [stage.pending_step(), stage.pending_step()]
    stage.model.gate.clear()
    with stage.worker() as worker:
        for step_id in steps:
            stage.send_step(step_id)
        until(lambda: len(stage.model.asked) == 2, what="two calls")
        worker.child().kill()
        stage.model.gate.set()
        until(lambda: tally(stage.engine).steps_succeeded == 2, what="both steps")
        assert worker.terminate() == 0
    assert len(stage.model.asked) == 3


def test_a_frozen_pool_process_is_ended_by_its_time_limit(stage: Stage) -> None:
    """A child that does nothing any more, not even for a signal: its message goes round again within the limit."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    with stage.worker(concurrency=1, soft_time_limit_s=3, time_limit_s=4) as worker:
        stage.send_step(step_id)
        until(lambda: stage.model.asked, what="the call")
        worker.child().suspend()
        stage.model.gate.set()
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
        assert worker.process.poll() is None


def test_sigterm_lets_a_call_end(stage: Stage) -> None:
    """A busy worker finishes and acknowledges what ends in time, takes nothing new, and exits 0."""
    step_id, later = stage.pending_step(), stage.pending_step()
    stage.model.gate.clear()
    with stage.worker(concurrency=1) as worker:
        stage.send_step(step_id)
        until(lambda: stage.model.asked, what="the call")
        worker.process.send_signal(signal.SIGTERM)
        until(lambda: "Warm shutdown" in worker.out, what="the signal to be seen")
        stage.send_step(later)
        stage.model.gate.set()
        assert worker.process.wait(30) == 0
    assert stage.step_status(step_id) is StepStatus.SUCCEEDED
    assert stage.step_status(later) is StepStatus.PENDING


def test_sigterm_interrupts_what_does_not_end_in_time(stage: Stage) -> None:
    """A stop of 12 s and a call without end: gone before SIGKILL, the message visible, the step free to be claimed."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    with stage.worker(stop_timeout_s=12) as worker:
        stage.send_step(step_id)
        until(lambda: stage.model.asked, what="the call")
        assert worker.terminate(within_s=12) == 0
        assert [line["outcome"] for line in worker.metrics] == ["abandoned"]
    assert stage.counts() == (1, 0)
    assert stage.step_status(step_id) is StepStatus.PENDING


def test_a_second_sigterm_hands_back_at_once(stage: Stage) -> None:
    """A stop of 120 s and a call without end: the second signal asks it back, its message is visible in 20 s.

    At once it must not be: the worker's own poll, still open, would take it along for the whole visibility timeout.
    """
    step_id = stage.pending_step()
    stage.sqs.set_queue_attributes(QueueUrl=stage.queue_urls["heavy"], Attributes={"VisibilityTimeout": "600"})
    stage.model.gate.clear()
    with stage.worker(stop_timeout_s=120, wait_time_s=10, visibility_timeout_s=600, lease_beat_s=200) as worker:
        stage.send_step(step_id)
        until(lambda: stage.model.asked, what="the call")
        worker.process.send_signal(signal.SIGTERM)
        until(lambda: "open polls" in worker.log, what="the first signal to be seen")
        assert worker.terminate(within_s=20) == 0
    until(lambda: stage.counts() == (1, 0), within_s=20, what="the message")
    assert stage.step_status(step_id) is StepStatus.PENDING


@pytest.mark.parametrize("pool", ["threads", "solo"])
def test_a_stop_asks_calls_back_from_pools_without_children(stage: Stage, pool: str) -> None:
    """Celery's threads and solo pools would wait for the call, and strand its message when they are killed."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    with stage.worker(pool=pool, concurrency=1, stop_timeout_s=6) as worker:
        stage.send_step(step_id)
        until(lambda: stage.model.asked, what="the call")
        assert worker.terminate(within_s=20) == 0
    assert stage.counts() == (1, 0)
    assert stage.step_status(step_id) is StepStatus.PENDING


@pytest.mark.parametrize("pool", ["prefork", "threads", "solo"])
def test_a_message_that_meets_the_last_poll_of_a_stopped_worker_is_returned(stage: Stage, pool: str) -> None:
    """A worker that left its poll open would take the message along: hidden for the whole visibility timeout."""
    stage.sqs.set_queue_attributes(QueueUrl=stage.queue_urls["heavy"], Attributes={"VisibilityTimeout": "600"})
    alone: dict[str, Any] = {"concurrency": 1, "wait_time_s": 5, "visibility_timeout_s": 600, "lease_beat_s": 200}
    proxy = FaultProxy(stage.endpoint)
    with serving(proxy), stage.worker(pool=pool, sqs_endpoint=proxy.url, **alone) as worker:
        until(lambda: proxy.polls, what="a poll")
        worker.process.send_signal(signal.SIGTERM)
        until(lambda: "open polls: 1" in worker.log, what="the last poll")
        stage.send_step(stage.pending_step())
        assert worker.process.wait(30) == 0
    assert stage.counts() == (1, 0)


def test_sigterm_ends_an_idle_worker(stage: Stage) -> None:
    """With nothing to finish it is gone in seconds."""
    with stage.worker() as worker:
        worker.wait_until_ready()
        assert worker.terminate(within_s=10) == 0
