"""Finishers, late ones and somebody who ends the job, all at once, on real PostgreSQL."""

import functools
import random
import threading
from collections.abc import Callable
from uuid import UUID

import pytest
import sqlalchemy as sa

from headway.jobs import Claim, cancel_job, finish_step, release_step
from headway.jobs.schema import calls, events, jobs, steps
from headway.jobs.states import ACTIVE_STEP
from tests.runtime.jobs.cases import OK, claimed, cut_job

_RACES = 40
_STEPS = 4


def _cancel(engine: sa.Engine, job_id: UUID) -> None:
    cancel_job(engine, job_id, actor="a person", reason="changed my mind")


def _finish(engine: sa.Engine, claim: Claim) -> Callable[[], object]:
    return functools.partial(finish_step, engine, claim, result={"count": 1}, paid=[OK])


def _race(work: list[Callable[[], object]]) -> None:
    """Run everything at once; a deadlock or any other error is the test's."""
    together, failed = threading.Barrier(len(work)), list[BaseException]()

    def run(one: Callable[[], object]) -> None:
        together.wait()
        try:
            one()
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def _check(engine: sa.Engine, job_id: UUID, paid: int) -> None:
    with engine.connect() as connection:
        job = connection.execute(sa.select(jobs).where(jobs.c.id == job_id)).one()
        ends = sa.select(events).where(events.c.job_id == job_id, events.c.step_id.is_(None))
        terminal = [row for row in connection.execute(ends) if row.to_status in ("succeeded", "failed", "canceled")]
        assert [row.to_status for row in terminal] == [job.status]
        (end,) = terminal
        # The job's end and each step's are stamped under the same lock: nothing is accepted after a cancel.
        accepted = connection.execute(
            sa.select(events.c.position).where(
                events.c.job_id == job_id, events.c.step_id.is_not(None), events.c.to_status == "succeeded"
            )
        ).all()
        assert all(row.position < end.position for row in accepted)
        left = connection.scalar(
            sa.select(sa.func.count())
            .select_from(steps)
            .where(steps.c.job_id == job_id, steps.c.status.in_(ACTIVE_STEP))
        )
        assert left == 0 or job.status == "canceled"
        rows = connection.execute(sa.select(calls).where(calls.c.job_id == job_id)).all()
        assert len(rows) == paid
        assert sum(row.accepted for row in rows) == len(accepted)


@pytest.mark.parametrize("seed", range(2))
def test_no_race_accepts_a_result_after_the_end_or_ends_twice(engine: sa.Engine, seed: int) -> None:
    """Exactly one terminal event, nothing accepted after it, one cost row a call, no deadlock."""
    chance = random.Random(seed)
    for _ in range(_RACES // 2):
        job_id, step_ids = cut_job(engine, blocks=_STEPS)
        work: list[Callable[[], object]] = []
        paid = len(step_ids)
        for step_id in step_ids:
            first = claimed(engine, step_id, lease_s=0.0)
            work.append(_finish(engine, first))
            if chance.random() < 0.4:
                work.append(_finish(engine, claimed(engine, step_id)))  # the first one's lease had expired
                paid += 1
            elif chance.random() < 0.2:
                # The same claim, and so the same call: written by either, it is one.
                work.append(functools.partial(release_step, engine, first, reason="late", paid=[OK]))
        if chance.random() < 0.7:
            work.append(functools.partial(_cancel, engine, job_id))
        chance.shuffle(work)
        _race(work)
        # A released step leaves its job open: end it, so that every race has an end to check.
        _cancel(engine, job_id)
        _check(engine, job_id, paid)
