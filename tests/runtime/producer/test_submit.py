"""Submitting: what is stored, written and sent, on the emulator and PostgreSQL."""

import base64
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from headway.contract import ContractError
from headway.jobs import JobStatus, job_view, list_jobs
from headway.producer import Producer, SubmitError
from headway.vision.image import DrawingError
from tests.runtime.support.stage import Stage
from tests.runtime.vision.drawings import png, sheet

_DRAWING = png(sheet((200, 200), [(20, 20, 180, 180)]))

_MakeProducer = Callable[..., Producer]


@pytest.fixture
def producer(stage: Stage) -> Iterator[_MakeProducer]:
    """Makes producers of the stage."""
    made: list[Producer] = []

    def make(**values: Any) -> Producer:
        made.append(Producer(stage.producer_env(**values), stage.secret))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_a_drawing_becomes_a_pending_job_with_a_message(stage: Stage, producer: _MakeProducer) -> None:
    """Stored under the job's id, written, and sent to the lane that the switch names."""
    job_id = producer(fast_queue="fast").submit(_DRAWING, "plans/Level 2.png")
    view = job_view(stage.engine, job_id)
    assert view is not None
    assert (view.summary.status, view.summary.name) == (JobStatus.PENDING, "Level 2.png")
    stored = stage.s3.get_object(Bucket=stage.bucket, Key=f"drawings/{job_id}/Level_2.png")
    assert stored["Body"].read() == _DRAWING
    assert (stage.counts("fast"), stage.counts("heavy")) == ((1, 0), (0, 0))


def test_without_a_switch_the_main_lane_is_used(stage: Stage, producer: _MakeProducer) -> None:
    """And a lane that does not exist is said once, when the sender is made."""
    producer().submit(_DRAWING, "a.png")
    assert stage.counts("heavy") == (1, 0)


def test_an_unknown_lane_is_one_warning(
    stage: Stage, producer: _MakeProducer, caplog: pytest.LogCaptureFixture
) -> None:
    """However many jobs are sent."""
    with caplog.at_level(logging.WARNING):
        sender = producer(fast_queue="express")
        for _ in range(3):
            sender.submit(_DRAWING, "a.png")
    assert [record.message for record in caplog.records if "FAST_QUEUE" in record.message] == [
        "FAST_QUEUE = 'express': no such lane (fast, heavy); sending to heavy"
    ]
    assert stage.counts("heavy") == (3, 0)


@pytest.mark.parametrize("data", [b"", b"Dear sir,", _DRAWING[:-12]])
def test_a_bad_drawing_leaves_nothing_behind(stage: Stage, producer: _MakeProducer, data: bytes) -> None:
    """No object, no job, no message."""
    with pytest.raises(DrawingError):
        producer().submit(data, "a.png")
    assert list_jobs(stage.engine) == []
    assert stage.counts("heavy") == (0, 0)
    assert stage.s3.list_objects_v2(Bucket=stage.bucket)["KeyCount"] == 0


def test_a_lane_that_is_gone_fails_the_job(stage: Stage, producer: _MakeProducer) -> None:
    """The sender is told in one line, and so is whoever looks at the job."""
    stage.sqs.delete_queue(QueueUrl=stage.queue_urls["heavy"])
    with pytest.raises(SubmitError, match=r"^lane heavy: the job could not be sent: "):
        producer().submit(_DRAWING, "a.png")
    (summary,) = list_jobs(stage.engine)
    assert summary.status is JobStatus.FAILED
    assert (summary.reason or "").startswith("lane heavy: the job could not be sent: ")


def test_a_bucket_that_is_gone_leaves_no_job(stage: Stage, producer: _MakeProducer) -> None:
    """Nothing refers to what was never stored."""
    with pytest.raises(SubmitError, match=r"^the drawing could not be stored: "):
        producer(drawings_bucket="no-such-bucket").submit(_DRAWING, "a.png")
    assert list_jobs(stage.engine) == []


def test_the_message_holds_ids_only(stage: Stage, producer: _MakeProducer) -> None:
    """What is large lies in the bucket."""
    job_id = producer().submit(_DRAWING, "a.png")
    (message,) = stage.sqs.receive_message(QueueUrl=stage.queue_urls["heavy"])["Messages"]
    envelope = json.loads(base64.b64decode(message["Body"]))
    assert envelope["headers"]["task"] == "headway.blocksplit"
    assert json.loads(base64.b64decode(envelope["body"]))[:2] == [[str(job_id)], {}]
    assert len(message["Body"]) < 2_500


def test_a_main_lane_without_a_queue_is_refused(producer: _MakeProducer) -> None:
    """When the sender is made, not at its first job."""
    with pytest.raises(ContractError, match=r"^HEADWAY_MAIN_LANE = 'main': no such lane in HEADWAY_QUEUE_URLS$"):
        producer(main_lane="main")
