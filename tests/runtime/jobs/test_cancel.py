"""The one way to end a job early, on real PostgreSQL."""

import uuid

import sqlalchemy as sa

from headway.jobs import Outcome, cancel_job, fail_job, finish_step, job_view
from headway.jobs.schema import events
from tests.runtime.jobs.cases import OK, claimed, cut_job, history, new_job, status_of


def test_a_cancel_ends_the_job_and_its_open_steps(engine: sa.Engine) -> None:
    """One event each, in one transaction, all by the same actor; what was finished stays as it is."""
    job_id, (first, second, third) = cut_job(engine, blocks=3)
    finish_step(engine, claimed(engine, first), result={"count": 1})
    claimed(engine, second)
    ending = cancel_job(engine, job_id, actor="a person", reason="changed my mind")
    assert ending.outcome is Outcome.ENDED
    assert ending.status == "canceled"
    assert [status_of(engine, row) for row in (job_id, first, second, third)] == [
        "canceled",
        "succeeded",
        "canceled",
        "canceled",
    ]
    assert history(engine, job_id)[-1] == ("running", "canceled")
    assert history(engine, second)[-1] == ("running", "canceled")
    assert history(engine, third)[-1] == ("pending", "canceled")
    with engine.connect() as connection:
        by = connection.execute(sa.select(events.c.actor).where(events.c.to_status == "canceled")).scalars().all()
    assert by == ["a person"] * 3
    view = job_view(engine, job_id)
    assert view is not None
    assert (view.summary.reason, view.summary.finished_at) == ("changed my mind", ending.end and ending.end.at)


def test_canceling_twice_answers_with_the_same_event(engine: sa.Engine) -> None:
    """The first one's, whoever asks again and why."""
    job_id = new_job(engine)
    first = cancel_job(engine, job_id, actor="a person", reason="changed my mind")
    again = cancel_job(engine, job_id, actor="a sweep", reason="idle")
    assert (first.outcome, again.outcome) == (Outcome.ENDED, Outcome.ALREADY)
    assert again.end == first.end
    assert first.end is not None
    assert (first.end.actor, first.end.reason) == ("a person", "changed my mind")


def test_a_finished_job_is_not_canceled(engine: sa.Engine) -> None:
    """It says how it ended."""
    job_id, (step_id,) = cut_job(engine)
    finish_step(engine, claimed(engine, step_id), result={"count": 1})
    ending = cancel_job(engine, job_id, actor="a person", reason="too late")
    assert (ending.outcome, ending.status) == (Outcome.FINISHED, "succeeded")
    failed = new_job(engine)
    assert fail_job(engine, failed, "nothing drawn")
    assert not fail_job(engine, failed, "again")
    assert cancel_job(engine, failed, actor="a person", reason="too late").status == "failed"


def test_an_unknown_job_is_told_apart(engine: sa.Engine) -> None:
    """There is nothing to cancel."""
    ending = cancel_job(engine, uuid.uuid4(), actor="a person", reason="a typing error")
    assert (ending.outcome, ending.status, ending.end) == (Outcome.UNKNOWN, None, None)


def test_an_answer_after_the_cancel_is_discarded_and_paid_for(engine: sa.Engine) -> None:
    """Its claim ended with the job."""
    job_id, (step_id,) = cut_job(engine)
    claim = claimed(engine, step_id)
    cancel_job(engine, job_id, actor="a person", reason="changed my mind")
    assert not finish_step(engine, claim, result={"count": 1}, paid=[OK])
    view = job_view(engine, job_id)
    assert view is not None
    assert (view.summary.status, view.summary.cost_usd) == ("canceled", 0.5)
    assert view.blocks[0].steps[0].result is None
