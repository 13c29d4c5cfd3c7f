"""Claims, and what they keep from happening, on real PostgreSQL."""

import uuid

import pytest
import sqlalchemy as sa

from headway.jobs import Refusal, claim_step, fail_job, finish_step, job_view, release_step, renew_claim, tally
from headway.jobs.schema import calls, steps
from tests.runtime.jobs.cases import LEASE_S, OK, claimed, cut_job, history, status_of


def test_a_step_is_claimed_once(engine: sa.Engine) -> None:
    """The second worker is told how long the first one's lease has to run."""
    job_id, (step_id,) = cut_job(engine)
    claim = claimed(engine, step_id)
    assert (claim.job_id, claim.attempt, claim.check_name, claim.image_key) == (job_id, 1, "bars", "1.png")
    refusal = claim_step(engine, step_id, lease_s=LEASE_S)
    assert isinstance(refusal, Refusal)
    assert 0 < refusal.held_s <= LEASE_S


def test_an_expired_lease_may_be_claimed_again(engine: sa.Engine) -> None:
    """With the next attempt's number; the first holder's answer is then discarded, and its cost kept."""
    job_id, (step_id,) = cut_job(engine)
    first = claimed(engine, step_id, lease_s=0.0)
    second = claimed(engine, step_id)
    assert second.attempt == 2
    assert not renew_claim(engine, first, lease_s=LEASE_S)
    assert not finish_step(engine, first, result={"count": 1}, paid=[OK])
    assert finish_step(engine, second, result={"count": 2}, paid=[OK])
    with engine.connect() as connection:
        kept = connection.execute(sa.select(calls.c.attempt, calls.c.accepted, calls.c.cost_usd).order_by("attempt"))
        assert [(row.attempt, row.accepted, float(row.cost_usd)) for row in kept] == [(1, False, 0.5), (2, True, 0.5)]
    view = job_view(engine, job_id)
    assert view is not None
    assert view.blocks[0].steps[0].result == {"count": 2}
    assert view.summary.cost_usd == 1.0
    assert tally(engine).steps_called_twice == 1


def test_a_renewed_lease_holds(engine: sa.Engine) -> None:
    """From the time of the renewal on."""
    _, (step_id,) = cut_job(engine)
    claim = claimed(engine, step_id, lease_s=1.0)
    assert renew_claim(engine, claim, lease_s=300.0)
    refusal = claim_step(engine, step_id, lease_s=LEASE_S)
    assert isinstance(refusal, Refusal)
    assert refusal.held_s > 200


def test_the_last_step_completes_the_job(engine: sa.Engine) -> None:
    """Not the first one."""
    job_id, (first, second) = cut_job(engine, checks=("bars", "openings"))
    assert finish_step(engine, claimed(engine, first), result={"count": 1})
    assert status_of(engine, job_id) == "running"
    assert finish_step(engine, claimed(engine, second), result={"count": 2})
    assert status_of(engine, job_id) == "succeeded"
    assert history(engine, job_id) == [(None, "pending"), ("pending", "running"), ("running", "succeeded")]
    assert history(engine, first) == [(None, "pending"), ("pending", "running"), ("running", "succeeded")]


def test_a_failed_step_fails_the_job_once_all_have_ended(engine: sa.Engine) -> None:
    """The others are still asked: their answers are worth having."""
    job_id, (first, second) = cut_job(engine, blocks=2)
    assert finish_step(engine, claimed(engine, first), result=None, reason="no answer")
    assert status_of(engine, job_id) == "running"
    assert finish_step(engine, claimed(engine, second), result={"count": 1})
    view = job_view(engine, job_id)
    assert view is not None
    assert (view.summary.status, view.summary.reason) == ("failed", "1 of its steps failed")
    assert view.blocks[0].steps[0].reason == "no answer"


def test_a_released_step_may_be_claimed_at_once(engine: sa.Engine) -> None:
    """Its attempts go on counting."""
    _, (step_id,) = cut_job(engine)
    claim = claimed(engine, step_id)
    assert release_step(engine, claim, reason="rate limited", paid=[OK])
    assert claimed(engine, step_id).attempt == 2
    assert not release_step(engine, claim, reason="again")
    assert history(engine, step_id)[-2:] == [("running", "pending"), ("pending", "running")]


@pytest.mark.parametrize("end", ["finished", "failed job"])
def test_what_has_ended_is_not_claimed(engine: sa.Engine, end: str) -> None:
    """A redelivered message finds nothing to do."""
    job_id, (step_id, *_) = cut_job(engine, blocks=2)
    if end == "finished":
        finish_step(engine, claimed(engine, step_id), result={"count": 1})
    else:
        fail_job(engine, job_id, "given up")
    refusal = claim_step(engine, step_id, lease_s=LEASE_S)
    assert isinstance(refusal, Refusal)
    assert (refusal.unknown, refusal.held_s) == (False, 0.0)


def test_an_unknown_step_is_told_apart(engine: sa.Engine) -> None:
    """Its message is poison."""
    nobody = uuid.uuid4()
    assert claim_step(engine, nobody, lease_s=LEASE_S) == Refusal(reason=f"step {nobody} not found", unknown=True)


def test_a_job_that_ended_takes_no_answer(engine: sa.Engine) -> None:
    """The call is discarded and paid for."""
    job_id, (step_id,) = cut_job(engine)
    claim = claimed(engine, step_id)
    fail_job(engine, job_id, "given up")
    assert not renew_claim(engine, claim, lease_s=LEASE_S)
    assert not finish_step(engine, claim, result={"count": 1}, paid=[OK])
    assert status_of(engine, job_id) == "failed"
    assert tally(engine).model_calls == 1


def test_times_come_from_the_database_and_never_run_back(engine: sa.Engine, owner: sa.Engine) -> None:
    """A row stamped in the future keeps its order: the next stamp is not before it."""
    _, (step_id,) = cut_job(engine)
    with owner.begin() as connection:
        future = sa.func.clock_timestamp() + sa.text("interval '1 hour'")
        connection.execute(sa.update(steps).values(updated_at=future))
    finish_step(engine, claimed(engine, step_id), result={"count": 1})
    with engine.connect() as connection:
        row = connection.execute(sa.select(steps)).one()
    assert row.created_at < row.started_at <= row.finished_at == row.updated_at
