"""What can never run goes to its lane's dead-letter queue with its reason, and the worker lives."""

import json
import uuid

from headway.jobs import StepStatus
from headway.producer.broker import BLOCKSPLIT
from tests.runtime.support.stage import Stage, celery_body
from tests.runtime.support.waiting import until


def test_poison_is_kept_with_its_reason(stage: Stage) -> None:
    """No JSON, no envelope, a broken envelope, no task, an unknown task, wrong arguments, an unknown step or job."""
    nobody = str(uuid.uuid4())
    unreadable = celery_body("headway.run_step", [nobody], "heavy")
    poison = {
        "hello": "it names no task",
        "[1, 2": "it names no task",
        '{"properties": 5}': "no Celery message",
        json.dumps({**json.loads(unreadable), "body": "%%%"}): "its body is not (args, kwargs, embed)",
        json.dumps(
            {**json.loads(unreadable), "content-type": "application/x-python-serialize"}
        ): "content not accepted",
        json.dumps({**json.loads(unreadable), "headers": {}}): "it names no task",
        celery_body("headway.unheard_of", [nobody], "heavy"): "unknown task 'headway.unheard_of'",
        celery_body("headway.run_step", ["7"], "heavy"): "must be one id",
        celery_body("headway.run_step", [nobody, nobody], "heavy"): "must be one id",
        celery_body("headway.run_step", [nobody], "heavy"): f"step {nobody} not found",
        celery_body(BLOCKSPLIT, [nobody], "heavy"): f"job {nobody} not found",
    }
    for body in poison:
        stage.send_body(body)
    good = stage.pending_step()
    stage.send_step(good)
    buried: dict[str, str] = {}
    with stage.worker() as worker:
        worker.wait_until_ready()
        until(lambda: stage.step_status(good) is StepStatus.SUCCEEDED, what="the good step")

        def all_buried() -> bool:
            buried.update(stage.dead_letters())
            return len(buried) == len(poison)

        until(all_buried, what="dead letters")
        assert worker.terminate() == 0
    assert {body: reason in buried[body] for body, reason in poison.items()} == dict.fromkeys(poison, True), buried
    assert stage.counts() == (0, 0)


def test_a_message_of_an_unknown_lane_is_run_once_and_acknowledged(stage: Stage) -> None:
    """Its routing key names a lane that this worker has never heard of; it is deleted by the queue it came from."""
    step_id = stage.pending_step()
    stage.send_step(step_id, routing_key="renamed-lane")
    with stage.worker() as worker:
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
        until(lambda: stage.counts() == (0, 0), what="its message deleted")
        assert worker.process.poll() is None
    assert len(stage.model.asked) == 1
