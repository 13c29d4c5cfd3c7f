"""Work packs: a worker that holds little leaves new messages to busier ones, and takes them where nobody else does."""

import uuid
from typing import Any

from headway.jobs import StepStatus
from tests.runtime.support.proxy import FaultProxy
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import Stage, Worker
from tests.runtime.support.waiting import until


def wait_until_done(stage: Stage, step_id: uuid.UUID) -> None:
    """Wait for a step's success."""
    until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")


def wait_until_received(worker: Worker, count: int) -> None:
    """Wait until a worker has received so many messages."""
    until(lambda: worker.log.count("received") == count, what=f"receive {count}")


def test_a_lazy_worker_leaves_messages_to_an_eager_one(stage: Stage, emulator: str) -> None:
    """Of two workers with free slots, the one that holds nothing has no long poll open: six messages, none for it."""
    steps = [stage.pending_step() for _ in range(6)]
    proxy = FaultProxy(emulator)
    with (
        serving(proxy),
        stage.worker(sqs_endpoint=proxy.url, lazy_below=1, lazy_poll_s=3_600.0) as lazy,
        stage.worker(concurrency=6) as eager,
    ):
        receive = ("sqs:ReceiveMessage", stage.queue_urls["heavy"])
        until(lambda: receive in proxy.asked and not proxy.polls, what="its first look, answered")
        eager.wait_until_ready()
        for step_id in steps:
            stage.send_step(step_id)
            wait_until_done(stage, step_id)
        assert (lazy.log.count("received"), eager.log.count("received")) == (0, 6)


def test_a_worker_that_received_nothing_for_a_while_leaves_messages_to_another(stage: Stage, emulator: str) -> None:
    """It holds a message, and once that is half a second old it opens no long poll: four more messages, none for it.

    Its other slots stay free, so that its task empties when that message is done.
    """
    first, *others = [stage.pending_step() for _ in range(5)]
    stage.model.gate.clear()
    stage.send_step(first)
    proxy = FaultProxy(emulator)
    lasting: dict[str, Any] = {"lazy_below": 1, "lazy_after_s": 0.5, "lazy_poll_s": 3_600.0}
    with serving(proxy), stage.worker(sqs_endpoint=proxy.url, concurrency=6, **lasting) as quiet:
        wait_until_received(quiet, 1)
        until(lambda: proxy.polled == 2 and not proxy.polls, what="the end of the poll after it")
        with stage.worker(concurrency=6) as other:
            other.wait_until_ready()
            for step_id in others:
                stage.send_step(step_id)
            wait_until_received(other, len(others))
            assert (quiet.log.count("received"), proxy.polled) == (1, 2)
            stage.model.gate.set()
            for step_id in (first, *others):
                wait_until_done(stage, step_id)


def test_a_lazy_worker_takes_what_nobody_else_does(stage: Stage) -> None:
    """Alone, it looks again after its pause; while it holds enough, it polls like any other."""
    steps = [stage.pending_step() for _ in range(2)]
    stage.model.gate.clear()
    with stage.worker(lazy_below=1, lazy_poll_s=1.0) as worker:
        worker.wait_until_ready()
        for count, step_id in enumerate(steps, start=1):
            stage.send_step(step_id)
            wait_until_received(worker, count)
        stage.model.gate.set()
        for step_id in steps:
            wait_until_done(stage, step_id)
