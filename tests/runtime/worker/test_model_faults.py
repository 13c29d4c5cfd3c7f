"""A model that refuses half of all questions, hangs, or answers too late: on the real worker."""

import itertools
from typing import Any

import sqlalchemy as sa

from headway.jobs import StepStatus, tally
from headway.jobs.schema import calls
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until

#: Stage time fifty times as fast; a call may take two seconds on this wall.
_QUICK: dict[str, Any] = {
    "speed": 50.0,
    "soft_time_limit_s": 3_000,
    "time_limit_s": 3_500,
    "model_timeout_s": 100,
}


def test_a_storm_of_rate_limits_fails_no_step(stage: Stage) -> None:
    """Every second question is refused: sixteen steps, sixteen answers, and no attempt that gave up."""
    numbers = itertools.count()

    def refuse_every_second() -> None:
        if next(numbers) % 2:
            stage.model.refusals.append((429, {}))

    stage.model.on_asked = refuse_every_second
    for _ in range(16):
        stage.send_step(stage.pending_step())
    with stage.worker(concurrency=4, **_QUICK) as worker:
        until(lambda: tally(stage.engine).steps_succeeded == 16, what="every step")
        assert {(line["outcome"], line["attempt"]) for line in worker.metrics} == {("ok", 1)}
        assert sum(line["CallsRateLimited"][0] for line in worker.metrics) > 0
    assert tally(stage.engine).model_calls == 16


def test_a_model_that_hangs_gives_its_slot_back(stage: Stage) -> None:
    """The only slot's call is never answered: it times out, and the next step has the slot."""
    hanging, other = stage.pending_step(), stage.pending_step()
    stage.model.gate.clear()
    with stage.worker(concurrency=1, **_QUICK) as worker:
        stage.send_step(hanging)
        until(lambda: stage.model.asked, what="the call")
        stage.send_step(other)
        until(lambda: "the model did not answer in time" in worker.log, what="the timeout")
        stage.model.gate.set()
        for step_id in (other, hanging):
            until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="a step")  # noqa: B023  # used at once


def test_a_late_answer_is_discarded_and_its_cost_is_kept(stage: Stage) -> None:
    """It comes when nobody waits any more: the second attempt's answer counts, and both calls are written down."""
    step_id = stage.pending_step()
    stage.model.gate.clear()
    with stage.worker(**_QUICK) as worker:
        stage.send_step(step_id)
        until(lambda: worker.metrics, what="the timeout")
        stage.model.gate.set()
        until(lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED, what="the step")
    with stage.engine.connect() as connection:
        recorded = connection.execute(
            sa.select(calls.c.attempt, calls.c.outcome, calls.c.accepted).order_by(calls.c.attempt)
        ).all()
    assert [tuple(row) for row in recorded] == [(1, "timed_out", False), (2, "ok", True)]
