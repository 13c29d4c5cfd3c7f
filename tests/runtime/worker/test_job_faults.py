"""A job that is canceled, a lane that is turned off, a COMMIT whose answer is lost: on the real worker."""

import dataclasses
import functools
from uuid import UUID

import sqlalchemy as sa

from headway.jobs import JobStatus, StepStatus, cancel_job, job_view
from headway.jobs.schema import calls, events
from headway.producer import Producer
from tests.runtime.support.drawings import drawing
from tests.runtime.support.postgres_proxy import PostgresProxy
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until


def test_a_step_of_a_canceled_job_is_dropped_without_a_call(stage: Stage) -> None:
    """The job ended while its step waited in the lane: the message is acknowledged, and nothing is asked."""
    step_id = stage.pending_step()
    job_id = stage.job_of(step_id)
    stage.send_step(step_id)
    cancel_job(stage.engine, job_id, actor="a person", reason="not needed any more")
    with stage.worker() as worker:
        until(lambda: f"job {job_id} already canceled; dropped" in worker.log, what="the message")
        until(lambda: stage.counts() == (0, 0), what="its acknowledgement")
    assert stage.model.asked == []


def test_a_call_is_given_up_when_its_job_is_canceled(stage: Stage) -> None:
    """Long before the next beat: the message is acknowledged, the call is on the bill, and nothing is accepted."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    stage.sqs.set_queue_attributes(QueueUrl=stage.queue_urls["heavy"], Attributes={"VisibilityTimeout": "600"})
    with stage.worker(visibility_timeout_s=600, lease_beat_s=200) as worker:
        stage.send_step(step_id)
        until(lambda: stage.model.asked, what="the call")
        cancel_job(stage.engine, stage.job_of(step_id), actor="a person", reason="changed my mind")
        until(lambda: stage.counts() == (0, 0), what="the acknowledgement")
        assert "claim lost, its answer is discarded" in worker.log
        assert [line["outcome"] for line in worker.metrics] == ["abandoned"]
    assert stage.step_status(step_id) is StepStatus.CANCELED
    with stage.engine.connect() as connection:
        assert connection.execute(sa.select(calls.c.outcome, calls.c.accepted)).all() == [("abandoned", False)]


def _is_claimed(stage: Stage, step_id: UUID) -> bool:
    return stage.step_status(step_id) is StepStatus.RUNNING


def test_a_step_in_line_for_the_quota_makes_no_call_when_its_job_is_canceled(stage: Stage) -> None:
    """One call uses the whole quota, and two steps of canceled jobs stand in line behind it: neither is asked."""
    first, *waiting = (stage.pending_step() for _ in range(3))
    stage.model.gate.clear()
    with stage.worker(concurrency=3, quota_calls=1):
        stage.send_step(first)
        until(lambda: stage.model.asked, what="the call")
        for step_id in waiting:
            stage.send_step(step_id)
        for step_id in waiting:
            until(functools.partial(_is_claimed, stage, step_id), what="the claim")
            cancel_job(stage.engine, stage.job_of(step_id), actor="a person", reason="changed my mind")
        until(lambda: stage.counts() == (0, 1), what="the acknowledgements")
        stage.model.gate.set()
        until(lambda: stage.counts() == (0, 0), what="the first one's end")
    assert stage.step_status(first) is StepStatus.SUCCEEDED
    assert len(stage.model.asked) == 1


def test_a_lane_that_is_turned_off_is_drained(stage: Stage) -> None:
    """One job went to the fast lane before the switch, one to the heavy lane after it: both are done, none is left."""
    jobs = []
    for lane in ("fast", ""):
        producer = Producer(stage.producer_env(fast_queue=lane), stage.secret)
        jobs.append(producer.submit(drawing(1), "plan.png"))
        producer.close()
    assert (stage.counts("fast"), stage.counts("heavy")) == ((1, 0), (1, 0))

    def status(number: int) -> JobStatus | None:
        view = job_view(stage.engine, jobs[number])
        return view.summary.status if view else None

    with stage.worker("heavy"):
        until(lambda: status(1) is JobStatus.SUCCEEDED, what="the job of the heavy lane")
        with stage.worker("fast"):
            until(lambda: status(0) is JobStatus.SUCCEEDED, what="the job of the fast lane")
        until(lambda: (stage.counts("fast"), stage.counts("heavy")) == ((0, 0), (0, 0)), what="both lanes empty")


def test_a_lost_answer_to_commit_bills_nothing_twice(stage: Stage) -> None:
    """The result is committed and its writer never hears so: written again, it is one result, one call, one end."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    with PostgresProxy(stage.secret).serving() as proxy:
        stage.secret = dataclasses.replace(stage.secret, port=proxy.port)
        with stage.worker():
            stage.send_step(step_id)
            until(lambda: stage.model.asked, what="the call")
            proxy.lose_answer("finish_step")
            stage.model.gate.set()
            until(lambda: proxy.lost, what="the loss")
            until(lambda: stage.counts() == (0, 0), what="the acknowledgement")
    assert stage.step_status(step_id) is StepStatus.SUCCEEDED
    with stage.engine.connect() as connection:
        assert connection.execute(sa.select(calls.c.outcome, calls.c.accepted)).all() == [("ok", True)]
        ends = sa.select(events.c.step_id).where(events.c.to_status == "succeeded").order_by(events.c.position)
        assert connection.scalars(ends).all() == [step_id, None]
    assert len(stage.model.asked) == 1


def test_a_stop_interrupts_a_call_whose_claim_is_being_renewed(stage: Stage) -> None:
    """The job store is silent, so the interruption meets a statement: gone in time all the same, the message back."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    with PostgresProxy(stage.secret).serving() as proxy:
        stage.secret = dataclasses.replace(stage.secret, port=proxy.port)
        with stage.worker(stop_timeout_s=12) as worker:
            stage.send_step(step_id)
            until(lambda: stage.model.asked, what="the call")
            proxy.silence()
            until(lambda: proxy.withheld, what="a renewal without an answer")
            assert worker.terminate(within_s=12) == 0
    assert stage.counts() == (1, 0)
    assert stage.step_status(step_id) is StepStatus.PENDING


def test_a_stop_in_the_middle_of_a_write_keeps_the_answer(stage: Stage) -> None:
    """The interruption meets the statement that writes the result: it is written again, and asked for once."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    with PostgresProxy(stage.secret).serving() as proxy:
        stage.secret = dataclasses.replace(stage.secret, port=proxy.port)
        # No beat comes before the write.
        stage.sqs.set_queue_attributes(QueueUrl=stage.queue_urls["heavy"], Attributes={"VisibilityTimeout": "60"})
        with stage.worker(stop_timeout_s=10, visibility_timeout_s=60, lease_beat_s=20) as worker:
            stage.send_step(step_id)
            until(lambda: stage.model.asked, what="the call")
            proxy.silence()
            stage.model.gate.set()
            until(lambda: proxy.withheld, what="a statement without an answer")
            assert worker.terminate(within_s=10) == 0
    assert stage.counts() == (0, 0)
    assert stage.step_status(step_id) is StepStatus.SUCCEEDED
    assert len(stage.model.asked) == 1
