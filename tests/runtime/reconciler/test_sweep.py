"""Silent jobs end, others do not, on real PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
import sqlalchemy as sa

from headway.jobs import cancel_job, job_view, renew_claim
from headway.jobs.schema import blocks, jobs, steps
from headway.jobs.watchdog import silent_query
from headway.reconciler.counts import Counts
from headway.reconciler.sweep import sweep, would_sweep
from tests.runtime.jobs.cases import claimed, cut_job, history, new_job, status_of
from tests.runtime.reconciler.ages import age

_IDLE_S = 3600.0


def _swept(engine: sa.Engine, *, lanes_empty: bool = True) -> Counts:
    counts = Counts()
    sweep(engine, counts, lanes_empty=lanes_empty, idle_s=_IDLE_S, reason="no sign of life for 60 min")
    return counts


def _abandoned(engine: sa.Engine, owner: sa.Engine, *, minutes: float = 61) -> UUID:
    job_id, (step_id, _) = cut_job(engine, blocks=2)
    claimed(engine, step_id, lease_s=0.0)
    age(owner, job_id, minutes=minutes)
    return job_id


def test_a_silent_job_is_canceled_by_the_function_that_the_button_calls(engine: sa.Engine, owner: sa.Engine) -> None:
    """Its steps with it, and one event says who and why; a cancel after it finds that event."""
    job_id = _abandoned(engine, owner)
    assert _swept(engine).swept == 1
    assert history(engine, job_id)[-1] == ("running", "canceled")
    again = cancel_job(engine, job_id, actor="a person", reason="me too")
    assert again.end is not None
    assert (again.outcome, again.end.actor, again.end.reason) == (
        "already",
        "reconciler",
        "no sign of life for 60 min",
    )
    view = job_view(engine, job_id)
    assert view is not None
    assert view.summary.steps == {"canceled": 2}
    assert _swept(engine) == Counts()


@pytest.mark.parametrize("table", [jobs, blocks, steps])
def test_one_sign_of_life_anywhere_in_the_job_keeps_it(engine: sa.Engine, owner: sa.Engine, table: sa.Table) -> None:
    """In the job's own row, in a block, or in a step; the other two have been silent for 61 minutes."""
    job_id, (step_id, _) = cut_job(engine, blocks=2)
    claimed(engine, step_id)
    for other in {jobs, blocks, steps} - {table}:
        age(owner, job_id, minutes=61, only=other)
    assert _swept(engine).swept == 0
    assert status_of(engine, job_id) == "running"


def test_a_beat_during_a_long_call_keeps_its_job(engine: sa.Engine, owner: sa.Engine) -> None:
    """The call began 61 minutes ago, and its worker still renews the claim."""
    job_id, (step_id,) = cut_job(engine)
    claim = claimed(engine, step_id)
    age(owner, job_id, minutes=61)
    assert renew_claim(engine, claim, lease_s=30)
    counts = _swept(engine)
    assert (counts.swept, counts.reprieved) == (0, 1)
    assert status_of(engine, job_id) == "running"


def test_the_limit_is_the_limit(engine: sa.Engine, owner: sa.Engine) -> None:
    """59 minutes are not an hour, 61 are more."""
    younger, older = (_abandoned(engine, owner, minutes=minutes) for minutes in (59, 61))
    assert _swept(engine).swept == 1
    assert (status_of(engine, younger), status_of(engine, older)) == ("running", "canceled")


def test_who_waits_for_a_turn_is_not_silent(engine: sa.Engine, owner: sa.Engine) -> None:
    """Jobs wait behind a backlog for more than an hour: to be begun, or for their steps; the lanes have messages."""
    unbegun, (waiting, _) = new_job(engine), cut_job(engine)
    for job_id in (unbegun, waiting):
        age(owner, job_id, minutes=90)
    assert _swept(engine, lanes_empty=False).swept == 0
    assert _swept(engine, lanes_empty=True).swept == 2


def test_who_was_overtaken_by_an_hour_is_not_waiting(engine: sa.Engine, owner: sa.Engine) -> None:
    """Jobs that came 61 minutes later have had their turn: the message is not coming any more."""
    lost, (late, (step_id,)) = cut_job(engine)[0], cut_job(engine)
    age(owner, lost, minutes=90)
    claimed(engine, step_id)
    assert _swept(engine, lanes_empty=False).swept == 1
    assert (status_of(engine, lost), status_of(engine, late)) == ("canceled", "running")


def test_several_reconcilers_side_by_side_end_each_job_once(engine: sa.Engine, owner: sa.Engine) -> None:
    """Three sweeps at once over 60 silent jobs: 60 ends in all, one event each."""
    abandoned = [_abandoned(engine, owner) for _ in range(60)]
    with ThreadPoolExecutor(3) as threads:
        counts = list(threads.map(lambda _: _swept(engine), range(3)))
    assert sum(each.swept for each in counts) == 60
    assert sum(each.errors for each in counts) == 0
    assert {history(engine, job_id).count(("running", "canceled")) for job_id in abandoned} == {1}


def test_a_job_that_another_writer_holds_is_left_for_the_next_sweep(engine: sa.Engine, owner: sa.Engine) -> None:
    """It is not waited for."""
    job_id = _abandoned(engine, owner)
    with engine.begin() as connection:
        connection.execute(sa.select(sa.func.lock_job(job_id)))
        assert _swept(engine).swept == 0
    assert _swept(engine).swept == 1


def test_a_dry_run_says_which_and_ends_none(engine: sa.Engine, owner: sa.Engine) -> None:
    """The silent one is named, the living one is a reprieve."""
    silent = _abandoned(engine, owner)
    living, _ = cut_job(engine)
    age(owner, living, minutes=61, only=jobs)
    counts = Counts()
    would_sweep(engine, counts, lanes_empty=True, idle_s=_IDLE_S)
    assert (counts.would_sweep, counts.reprieved) == ([silent], 1)
    assert status_of(engine, silent) == "running"


def test_the_look_reads_an_index_of_open_jobs_alone(engine: sa.Engine, owner: sa.Engine) -> None:
    """Among a million jobs, most of them ended: no sequential scan, no sort, and no row read that is not wanted."""
    with owner.begin() as connection:
        connection.execute(sa.text(_MILLION))
    with owner.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(sa.text("ANALYZE jobs"))
    query = silent_query(idle_s=_IDLE_S, after=None, limit=500)
    text = str(query.compile(engine, compile_kwargs={"literal_binds": True}))
    with engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM jobs")) == 1_000_000
        assert len(connection.execute(query).all()) == 500
        (plan,) = connection.execute(sa.text(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {text}")).scalar_one()
    kinds, node = [], plan["Plan"]
    while node:
        kinds.append((node["Node Type"], node.get("Index Name")))
        (node,) = node.get("Plans", [None])
    assert kinds[0] == ("Limit", None)
    assert kinds[1:] in ([("Index Only Scan", "jobs_open_idx")], [("Index Scan", "jobs_open_idx")])
    assert plan["Plan"]["Plans"][0]["Actual Rows"] == 500
    assert plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"] < 600


_MILLION = """
    INSERT INTO jobs (name, drawing_key, status, created_at, updated_at)
    SELECT 'plan.png', 'drawings/plan.png', CASE WHEN n % 100 = 0 THEN 'running' ELSE 'succeeded' END, at, at
    FROM generate_series(1, 1000000) AS n, LATERAL (SELECT now() - n * interval '1 second' AS at) AS times
"""
