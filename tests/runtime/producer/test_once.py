"""Submitting again, and submitting what lies in the bucket: one job for one key, whatever went wrong in between."""

import base64
import contextlib
import uuid
from collections.abc import Iterator

import pytest

from headway.jobs import JobStatus, begin_job, job_view, list_jobs
from headway.producer import KeyReusedError, Producer, SubmitError
from headway.vision.image import MAX_BYTES, DrawingError
from tests.runtime.support.drawings import drawing
from tests.runtime.support.stage import Stage, sent_id

_DRAWING, _OTHER = drawing(1), drawing(2)


@pytest.fixture
def producer(stage: Stage) -> Iterator[Producer]:
    """A producer of the stage."""
    with contextlib.closing(Producer(stage.producer_env(), stage.secret)) as made:
        yield made


def sent(stage: Stage) -> list[uuid.UUID]:
    """Take the main lane's messages, and return the ids of the jobs that they are for."""
    answer = stage.sqs.receive_message(QueueUrl=stage.queue_urls["heavy"], MaxNumberOfMessages=10)
    return [sent_id(base64.b64decode(message["Body"]).decode()) for message in answer["Messages"]]


def test_a_key_that_is_repeated_makes_one_job(stage: Stage, producer: Producer) -> None:
    """The second try answers with the first one's job, and says that it made none."""
    first = producer.submit_once(_DRAWING, "a.png", idempotency_key="k")
    begin_job(stage.engine, first.job_id)
    second = producer.submit_once(_DRAWING, "a.png", idempotency_key="k")
    assert (first.created, second.created, second.job_id) == (True, False, first.job_id)
    assert len(list_jobs(stage.engine)) == 1
    assert stage.counts() == (1, 0)


def test_a_repeat_sends_what_may_never_have_been_sent(stage: Stage, producer: Producer) -> None:
    """While the job is pending nobody knows whether its message was sent: it is sent again, and blocksplit is once."""
    first = producer.submit_once(_DRAWING, "a.png", idempotency_key="k")
    producer.submit_once(_DRAWING, "a.png", idempotency_key="k")
    assert sent(stage) == [first.job_id, first.job_id]


def test_keys_differ_and_so_do_jobs_without_one(stage: Stage, producer: Producer) -> None:
    """Two keys are two jobs; without a key every submission is a job of its own."""
    ids = {producer.submit_once(_DRAWING, "a.png", idempotency_key=key).job_id for key in ("k", "l", "", "")}
    assert len(ids) == 4


@pytest.mark.parametrize(("data", "name"), [(_OTHER, "a.png"), (_DRAWING, "b.png")])
def test_a_key_holds_for_one_drawing(stage: Stage, producer: Producer, data: bytes, name: str) -> None:
    """Another drawing, or another name, under the same key is refused, and the first one's is not overwritten."""
    first = producer.submit_once(_DRAWING, "a.png", idempotency_key="k")
    with pytest.raises(KeyReusedError, match=rf"^the idempotency key has made job {first.job_id} of another drawing$"):
        producer.submit_once(data, name, idempotency_key="k")
    stored = stage.s3.list_objects_v2(Bucket=stage.bucket, Prefix=f"drawings/{first.job_id}/")["Contents"]
    bodies = [stage.s3.get_object(Bucket=stage.bucket, Key=each["Key"])["Body"].read() for each in stored]
    assert sorted(bodies) == sorted([_DRAWING, data])
    assert len(list_jobs(stage.engine)) == 1


def test_a_job_with_a_key_that_could_not_be_sent_is_sent_by_the_next_try(stage: Stage, producer: Producer) -> None:
    """It stays pending where one without a key fails, so that repeating the request is all a client has to do."""
    attributes = stage.sqs.get_queue_url(QueueName=stage.queue_urls["heavy"].rpartition("/")[2])
    stage.sqs.delete_queue(QueueUrl=attributes["QueueUrl"])
    with pytest.raises(SubmitError, match=r"^lane heavy: the job could not be sent: "):
        producer.submit_once(_DRAWING, "a.png", idempotency_key="k")
    (summary,) = list_jobs(stage.engine)
    assert summary.status is JobStatus.PENDING
    stage.sqs.create_queue(QueueName=stage.queue_urls["heavy"].rpartition("/")[2])
    again = producer.submit_once(_DRAWING, "a.png", idempotency_key="k")
    assert (again.job_id, again.created) == (summary.id, False)
    assert stage.counts() == (1, 0)


def test_a_drawing_that_lies_in_the_bucket_is_submitted_by_its_key(stage: Stage, producer: Producer) -> None:
    """It is not stored again: the job refers to it where it lies, and is called what its key ends with."""
    stage.s3.put_object(Bucket=stage.bucket, Key="drawings/site/Level 2.png", Body=_DRAWING)
    submitted = producer.submit_stored("drawings/site/Level 2.png")
    view = job_view(stage.engine, submitted.job_id)
    assert view is not None
    assert view.summary.name == "Level 2.png"
    assert sent(stage) == [submitted.job_id]
    assert stage.s3.list_objects_v2(Bucket=stage.bucket)["KeyCount"] == 1


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("drawings/nothing.png", "no drawing is stored under 'drawings/nothing.png'"),
        ("drawings/", "key = 'drawings/': must begin with drawings/"),
        ("blocks/1.png", "key = 'blocks/1.png': must begin with drawings/"),
        ("drawings/a\x00.png", r"key = 'drawings/a\x00.png': must have printable characters only"),
        ("drawings/\ud800", r"key = 'drawings/\ud800': must have printable characters only"),
        ("drawings/" + "é" * 508, f"key = {'drawings/' + 'é' * 71!r}...: must have at most 1,024 bytes"),
        ("drawings/text.png", "not a drawing: neither PNG nor PDF"),
        ("drawings/big.png", f"too big: {MAX_BYTES + 1:,} bytes, at most {MAX_BYTES:,}"),
    ],
)
def test_a_key_without_a_drawing_is_refused(stage: Stage, producer: Producer, key: str, message: str) -> None:
    """One line says why, and no job is written."""
    stage.s3.put_object(Bucket=stage.bucket, Key="drawings/text.png", Body=b"Dear sir,")
    stage.s3.put_object(Bucket=stage.bucket, Key="drawings/big.png", Body=bytes(MAX_BYTES + 1))
    with pytest.raises(DrawingError) as refused:
        producer.submit_stored(key)
    assert str(refused.value) == message
    assert list_jobs(stage.engine) == []


def test_a_bucket_that_is_gone_is_no_fault_of_the_drawing(stage: Stage) -> None:
    """It is the stage that is at fault, and the next try may do."""
    sender = Producer(stage.producer_env(drawings_bucket="no-such-bucket"), stage.secret)
    with contextlib.closing(sender), pytest.raises(SubmitError, match=r"^the drawing could not be read: "):
        sender.submit_stored("drawings/a.png")
