"""Are the grants enough? What real workers ask of SQS, against what the synthesized template lets them ask."""

import contextlib
from collections.abc import Iterator

from headway.jobs import job_view
from headway.producer import Producer
from tests import synth
from tests.runtime.support.drawings import drawing
from tests.runtime.support.proxy import FaultProxy
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until


def granted(lane: str) -> set[tuple[str, str]]:
    """Return the actions on queues that prod's worker of one lane may use, as (action, "heavy" or "heavy dead")."""
    found = set()
    for logical_id, statement in synth.statements(synth.stage("prod").templates["consumer"]):
        if logical_id.startswith(f"{lane.capitalize()}TaskTaskRole"):
            for resource in synth.as_list(statement["Resource"]):
                found |= {(action, _queue(synth.text(resource))) for action in synth.as_list(statement["Action"])}
    return {(action, queue) for action, queue in found if action.startswith("sqs:")}


def _queue(name: str) -> str:
    lane = next((lane for lane in ("heavy", "fast") if lane in name.lower()), "")
    return f"{lane} dead" if "dead" in name.lower() else lane


def _permission(action: str) -> str:
    """Return what IAM checks: a batch is allowed by its single action (SQS guide, "Amazon SQS API permissions")."""
    return action.removesuffix("Batch")


@contextlib.contextmanager
def recorded(emulator: str) -> Iterator[FaultProxy]:
    """Serve a proxy that breaks nothing and remembers what was asked."""
    server = FaultProxy(emulator)
    with serving(server):
        yield server


def test_workers_ask_only_what_they_are_granted(stage: Stage, emulator: str) -> None:
    """A job through both lanes and a message that can never run: every action on every queue is in the task's role."""
    with (
        recorded(emulator) as by_heavy,
        recorded(emulator) as by_fast,
        stage.worker("heavy", sqs_endpoint=by_heavy.url) as heavy,
        stage.worker("fast", sqs_endpoint=by_fast.url) as fast,
    ):
        producer = Producer(stage.producer_env(fast_queue="fast"), stage.secret)
        job_id = producer.submit(drawing(2), "plan.png")
        producer.close()
        stage.send_body("no Celery message")
        until(lambda: len(stage.dead_letters()) == 1, within_s=60, what="the dead letter")

        def finished() -> bool:
            view = job_view(stage.engine, job_id)
            return view is not None and view.summary.finished_at is not None

        until(finished, within_s=90, what="job finished")
        assert (heavy.terminate(), fast.terminate()) == (0, 0)
    for lane, proxy in (("heavy", by_heavy), ("fast", by_fast)):
        asked = {(_permission(action), _queue(url)) for action, url in proxy.asked}
        assert asked <= granted(lane)
        assert {("sqs:ReceiveMessage", lane), ("sqs:DeleteMessage", lane)} <= asked
    assert ("sqs:SendMessage", "heavy dead") in {(action, _queue(url)) for action, url in by_heavy.asked}
