"""Splitting, on a real worker of the only lane there is."""

import base64
import json
import uuid

from headway.jobs import JobStatus, create_job, fail_job, job_view, pending_steps
from headway.producer.broker import BLOCKSPLIT
from tests.runtime.support.stage import Stage, celery_body
from tests.runtime.support.waiting import until
from tests.runtime.vision.drawings import png, sheet

_FRAMES = [(20, 20, 220, 220), (240, 20, 440, 220)]


def _submitted(stage: Stage, data: bytes | None, *, lane: str = "heavy") -> uuid.UUID:
    job_id = uuid.uuid4()
    key = f"drawings/{job_id}/plan.png"
    if data is not None:
        stage.s3.put_object(Bucket=stage.bucket, Key=key, Body=data)
    create_job(stage.engine, job_id=job_id, name="plan.png", drawing_key=key)
    stage.send_body(celery_body(BLOCKSPLIT, [str(job_id)], lane), lane)
    return job_id


def _status(stage: Stage, job_id: uuid.UUID) -> JobStatus:
    view = job_view(stage.engine, job_id)
    assert view is not None
    return view.summary.status


def test_a_bad_drawing_fails_its_job_and_the_others_go_on(stage: Stage) -> None:
    """Blank, truncated, gone: each with its reason; the good one succeeds, without a fast lane too."""
    drawing = png(sheet((460, 240), _FRAMES))
    bad = {
        _submitted(stage, png(sheet((460, 240), []))): "nothing drawn",
        _submitted(stage, drawing[:-12]): "truncated or damaged PNG",
        _submitted(stage, None): "the drawing is gone",
    }
    good = _submitted(stage, drawing)
    with stage.worker() as worker:
        until(lambda: _status(stage, good) is JobStatus.SUCCEEDED, what="the good job")
        for job_id, reason in bad.items():
            until(lambda: _status(stage, job_id) is JobStatus.FAILED, what="a bad job")  # noqa: B023  # used at once
            view = job_view(stage.engine, job_id)
            assert view is not None
            assert (view.summary.reason or "").startswith(reason)
        assert worker.process.poll() is None
    until(lambda: stage.counts() == (0, 0), what="every message acknowledged")


def test_blocks_are_stored_as_images(stage: Stage) -> None:
    """Each block's inside, as PNG, under the job's id."""
    job_id = _submitted(stage, png(sheet((460, 240), _FRAMES)))
    with stage.worker():
        until(lambda: _status(stage, job_id) is JobStatus.SUCCEEDED, what="the job")
    view = job_view(stage.engine, job_id)
    assert view is not None
    assert [block.box for block in view.blocks] == [(24, 24, 216, 216), (244, 24, 436, 216)]
    for block in view.blocks:
        stored = stage.s3.get_object(Bucket=stage.bucket, Key=block.image_key)["Body"].read()
        assert stored.startswith(b"\x89PNG")


def test_a_delivery_after_a_crash_sends_what_is_still_pending(stage: Stage) -> None:
    """Blocks and steps were committed and no message was sent; the next delivery sends each step once."""
    step_id = stage.pending_step()
    job_id = stage.job_of(step_id)
    stage.send_body(celery_body(BLOCKSPLIT, [str(job_id)], "heavy"))
    with stage.worker():
        until(lambda: _status(stage, job_id) is JobStatus.SUCCEEDED, what="the job")
    assert len(stage.model.asked) == 1


def test_a_delivery_after_the_end_sends_nothing(stage: Stage) -> None:
    """It is dropped with a word."""
    step_id = stage.pending_step()
    job_id = stage.job_of(step_id)
    fail_job(stage.engine, job_id, "given up")
    stage.send_body(celery_body(BLOCKSPLIT, [str(job_id)], "heavy"))
    with stage.worker() as worker:
        until(lambda: "failed; dropped" in worker.log, what="the message")
        until(lambda: stage.counts() == (0, 0), what="it to be acknowledged")
    assert stage.model.asked == []


def test_a_step_is_sent_without_the_limits_of_its_sender(stage: Stage) -> None:
    """The fast lane's seconds must not end the heavy lane's call: the message asks for no limit of its own."""
    job_id = _submitted(stage, png(sheet((460, 240), _FRAMES[:1])), lane="fast")
    with stage.worker("fast", soft_time_limit_s=20, time_limit_s=25):
        until(lambda: stage.counts("heavy") == (2, 0), what="two steps sent")
    (message, *_) = stage.sqs.receive_message(QueueUrl=stage.queue_urls["heavy"])["Messages"]
    headers = json.loads(base64.b64decode(message["Body"]))["headers"]
    assert (headers["task"], headers["timelimit"]) == ("headway.run_step", [None, None])
    assert _status(stage, job_id) is JobStatus.RUNNING


def test_a_lane_that_is_gone_hands_the_split_back(stage: Stage) -> None:
    """What was cut stays, and is sent by a later delivery."""
    stage.sqs.delete_queue(QueueUrl=stage.queue_urls["heavy"])
    job_id = _submitted(stage, png(sheet((460, 240), _FRAMES)), lane="fast")
    with stage.worker("fast") as worker:
        until(lambda: "handed back: lane: " in worker.log, what="the hand-back")
        assert "Traceback" not in worker.log
    assert len(pending_steps(stage.engine, job_id) or ()) == 4
