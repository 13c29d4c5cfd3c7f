"""What becomes of a step whose model does not simply answer, on the real worker."""

from typing import Any

import sqlalchemy as sa

from headway.jobs import StepStatus, fail_job, job_view, tally
from headway.jobs.schema import call_leases, steps
from headway_ops.local.postgres import Server
from tests.runtime.support.database import job_store_away
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until

#: A hundred stage seconds in a wall second: a minute's delay is one second, a second's the least SQS takes.
_QUICK: dict[str, Any] = {"speed": 100.0, "soft_time_limit_s": 3_000, "time_limit_s": 3_500, "model_timeout_s": 2_900}


def _reason(stage: Stage, step_id: object) -> str:
    with stage.engine.connect() as connection:
        return str(connection.scalar(sa.select(steps.c.reason).where(steps.c.id == step_id)))


def test_rate_limits_are_waited_out(stage: Stage) -> None:
    """Two 429s and an answer: one call, one attempt, two refusals counted in its metric line."""
    step_id = stage.pending_step()
    stage.model.refusals += [(429, {"retry_after": "20"}), (429, {})]
    with stage.worker(**_QUICK) as worker:
        stage.send_step(step_id)
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
        (line,) = worker.metrics
    assert (line["outcome"], line["CallsRateLimited"], line["attempt"]) == ("ok", [2.0], 1)
    assert (tally(stage.engine).model_calls, tally(stage.engine).steps_called_twice) == (1, 0)


def test_a_step_that_gives_up_is_handed_back_and_tried_again(stage: Stage) -> None:
    """Its patience is over at a wait of 300 s: the message goes back with a delay, the second attempt succeeds."""
    step_id = stage.pending_step()
    stage.model.refusals += [(429, {"retry_after": "300"})]
    with stage.worker(**_QUICK) as worker:
        stage.send_step(step_id)
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
        assert "handed back" in worker.log
        assert "Traceback" not in worker.log
        assert [(line["outcome"], line["attempt"]) for line in worker.metrics] == [("rate_limited", 1), ("ok", 2)]
    assert tally(stage.engine).model_calls == 1


def test_a_step_fails_loudly_at_its_fourth_attempt(stage: Stage) -> None:
    """Before the redrive policy takes its message unseen, after five receives."""
    step_id = stage.pending_step()
    stage.model.refusals += [(429, {"retry_after": "300"})] * 9
    with stage.worker(**_QUICK):
        stage.send_step(step_id)
        until(lambda: stage.step_status(step_id) is StepStatus.FAILED, what="the step to fail")
        until(lambda: stage.counts() == (0, 0), what="its message acknowledged")
    assert _reason(stage, step_id).startswith("gave up after 4 attempts: the model's server says: ")
    assert stage.dead_letters() == {}


def test_a_refused_request_fails_its_step_at_once(stage: Stage) -> None:
    """And the job with it, with the server's own words."""
    step_id = stage.pending_step()
    stage.model.refusals.append((400, {}))
    with stage.worker(**_QUICK):
        stage.send_step(step_id)
        until(lambda: stage.step_status(step_id) is StepStatus.FAILED, what="the step to fail")
    assert "as the test wants it" in _reason(stage, step_id)
    assert len(stage.model.asked) == 1


def test_an_unreadable_answer_is_asked_for_twice_and_fails(stage: Stage) -> None:
    """No third call: the model would go on so."""
    step_id = stage.pending_step()
    stage.model.text = "three, I think"
    with stage.worker(**_QUICK) as worker:
        stage.send_step(step_id)
        until(lambda: stage.step_status(step_id) is StepStatus.FAILED, what="the step to fail")
        assert [line["outcome"] for line in worker.metrics] == ["unreadable"] * 2
    assert _reason(stage, step_id) == "the model's answer is not JSON: 'three, I think'"
    assert len(stage.model.asked) == 2


def test_a_call_over_the_soft_limit_is_abandoned_and_tried_again(stage: Stage) -> None:
    """The message goes round; what the first call cost is written down."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    with stage.worker(soft_time_limit_s=2, time_limit_s=20, visibility_timeout_s=3, speed=1.0) as worker:
        stage.send_step(step_id)
        until(lambda: "interrupted: over its time limit" in worker.log, what="the soft limit")
        stage.model.gate.set()
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
        assert [line["outcome"] for line in worker.metrics] == ["abandoned", "ok"]
    assert tally(stage.engine).model_calls == 2


def test_a_job_that_ends_takes_its_running_call_with_it(stage: Stage) -> None:
    """The beat finds the claim lost: the call is abandoned, its cost recorded, its message acknowledged."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    with stage.worker() as worker:
        stage.send_step(step_id)
        until(lambda: stage.model.asked, what="the call")
        job_id = stage.job_of(step_id)
        fail_job(stage.engine, job_id, "given up")
        until(lambda: stage.counts() == (0, 0), what="its message acknowledged")
        assert [line["outcome"] for line in worker.metrics] == ["abandoned"]
    view = job_view(stage.engine, job_id)
    assert view is not None
    assert (view.summary.reason, tally(stage.engine).model_calls) == ("given up", 1)


def test_an_answer_outlives_an_outage_of_the_job_store(stage: Stage, postgres_server: Server) -> None:
    """The database goes away during the call and comes back after it: the answer is written, and asked for once."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    with stage.worker() as worker:
        stage.send_step(step_id)
        until(lambda: stage.model.asked, what="the call")
        with job_store_away(postgres_server.owner):
            stage.model.gate.set()
            until(lambda: "claim not renewed" in worker.log or "stamina" in worker.log, what="the outage to be felt")
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
        assert [line["outcome"] for line in worker.metrics] == ["ok"]
    assert len(stage.model.asked) == 1


def test_a_step_waits_out_an_outage_of_the_job_store(stage: Stage, postgres_server: Server) -> None:
    """The claim cannot be made: no call, no acknowledgement; the message comes back and the step runs once."""
    step_id = stage.pending_step()
    with stage.worker() as worker:
        worker.wait_until_ready()
        with job_store_away(postgres_server.owner):
            stage.send_step(step_id)
            until(lambda: "handed back: job store: " in worker.log, what="the outage to be felt")
        assert stage.model.asked == []
        assert "Traceback" not in worker.log
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
    assert len(stage.model.asked) == 1


def test_the_quota_holds_over_two_workers(stage: Stage) -> None:
    """Four slots in two workers, a quota of one: the second step is asked once the first is answered."""
    step_ids = [stage.pending_step() for _ in range(2)]
    stage.model.gate.clear()
    with stage.worker(quota_calls=1) as first, stage.worker(quota_calls=1) as second:
        for step_id in step_ids:
            stage.send_step(step_id)
        until(lambda: stage.model.asked and _leases(stage) == (1, 1), what="one call and one that waits")
        assert len(stage.model.asked) == 1
        stage.model.gate.set()
        for step_id in step_ids:
            until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")  # noqa: B023  # used at once
        lines = first.metrics + second.metrics
    assert [(line["outcome"], line["CallsInFlightAtStart"]) for line in lines] == [("ok", [1.0])] * 2
    assert _leases(stage) == (0, 0)


def test_a_killed_processs_place_in_the_quota_comes_back(stage: Stage) -> None:
    """A quota of one, and its holder is killed: the step's second attempt gets the place once the lease is over."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    with stage.worker(quota_calls=1, concurrency=1) as worker:
        stage.send_step(step_id)
        until(lambda: stage.model.asked, what="the call")
        worker.child().kill()
        stage.model.gate.set()
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, within_s=60, what="the step")
        assert [(line["attempt"], line["CallsInFlightAtStart"]) for line in worker.metrics] == [(2, [1.0])]


def _leases(stage: Stage) -> tuple[int, ...]:
    """Return how many calls hold a place in the quota, and how many wait for one."""
    granted = call_leases.c.granted_at.is_not(None)
    with stage.engine.connect() as connection:
        query = sa.select(sa.func.count().filter(granted), sa.func.count().filter(~granted)).select_from(call_leases)
        return tuple(connection.execute(query).one())
