"""The interleavings that break a lock and a second look, one by one: what each would do, and that it does not here."""

import time
from collections.abc import Iterator

import psycopg
import pytest

from headway_ops.local.postgres import Server
from tests.races.sides import IDLE_S, Ring, ring


@pytest.fixture
def one(server: Server) -> Iterator[Ring]:
    """A silent job, a worker that answers after all, and a reconciler."""
    with ring(server.owner, server.secret) as set_up:
        yield set_up


def test_i1_an_uncommitted_answer_keeps_its_job(one: Ring) -> None:
    """The answer is written and not committed: a reconciler that read only rows would not see it, nor wait for it."""
    one.worker.says("BEGIN")
    assert one.worker.says(one.finish) is True
    assert one.reconciler.says(one.sweep) == "skipped"
    one.worker.says("COMMIT")
    assert one.read("jobs.status") == "succeeded"


def test_i2_nothing_is_accepted_between_the_second_look_and_the_cancel(one: Ring) -> None:
    """The answer comes when the reconciler has looked: it waits for the end, and is refused."""
    one.reconciler.says("BEGIN")
    assert one.reconciler.says(one.sweep) == "swept"
    answer = one.worker.begins(one.finish)
    one.worker.waits()
    one.reconciler.says("COMMIT")
    assert answer.result(30) is False
    assert one.read("jobs.status || steps.status") == "canceledcanceled"


_SINGLE_STATEMENT = """
    UPDATE jobs SET status = 'canceled' WHERE id = '{job}' AND status IN ('pending', 'running')
        AND (SELECT max(updated_at) FROM steps WHERE job_id = jobs.id) < now() - interval '1 h'
    RETURNING true
"""


def test_i3_one_guarded_statement_would_not_do(one: Ring) -> None:
    """The guard reads the step before the answer is committed: it would cancel. The two statements here do not."""
    one.worker.says("BEGIN")
    assert one.worker.says(f"SELECT id FROM jobs WHERE id = '{one.job}'") == one.job
    assert one.worker.says(one.renew) is True
    one.onlooker.says("SET lock_timeout = '200ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable):  # even this one waits for the beat's lock on the job
        one.onlooker.says(_SINGLE_STATEMENT.format(job=one.job))
    assert one.reconciler.says(one.sweep) == "skipped"
    one.worker.says("COMMIT")
    assert one.reconciler.says(one.sweep) == "reprieved"


def test_i4_a_lock_and_a_group_do_not_go_together(one: Ring) -> None:
    """The obvious query is refused by PostgreSQL, so the heartbeat has a statement of its own."""
    query = "SELECT jobs.id, max(steps.updated_at) FROM jobs JOIN steps ON job_id = jobs.id GROUP BY jobs.id FOR UPDATE"
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="not allowed with GROUP BY"):
        one.owner.execute(query)


def test_i4b_a_look_in_the_statement_that_waits_is_too_old(one: Ring) -> None:
    """After its wait for the lock it still sees a silent step; the next statement sees the beat."""
    idle = f"(SELECT max(updated_at) FROM steps WHERE job_id = '{one.job}') < now() - interval '{IDLE_S} s'"
    one.worker.says("BEGIN")
    assert one.worker.says(one.renew) is True
    looked = one.onlooker.begins(f"SELECT {idle} FROM jobs WHERE id = '{one.job}' FOR UPDATE")
    one.onlooker.waits()
    one.worker.says("COMMIT")
    assert looked.result(30) is True
    assert one.onlooker.says(f"SELECT {idle}") is False
    assert one.reconciler.says(one.sweep) == "reprieved"


@pytest.mark.parametrize(
    ("level", "act"),
    [
        pytest.param("REPEATABLE READ", "sweep", id="i5-repeatable-read-sweep"),
        pytest.param("SERIALIZABLE", "sweep", id="i6-serializable-sweep"),
        pytest.param("SERIALIZABLE", "finish", id="i6-serializable-finish"),
    ],
)
def test_i5_i6_a_snapshot_that_is_older_than_the_lock_is_refused(one: Ring, level: str, act: str) -> None:
    """A beat after the snapshot would not be seen under the lock: the functions run in READ COMMITTED or not at all."""
    one.reconciler.says(f"BEGIN ISOLATION LEVEL {level}")
    assert one.reconciler.says(f"SELECT status FROM jobs WHERE id = '{one.job}'") == "running"
    assert one.worker.says(one.renew) is True
    with pytest.raises(psycopg.errors.RaiseException, match=f"isolation level {level.lower()}: must be read committed"):
        one.reconciler.says(getattr(one, act))
    one.reconciler.says("ROLLBACK")
    assert one.read("jobs.status") == "running"


def test_i7_a_stamp_is_the_time_of_the_write_and_never_runs_back(one: Ring) -> None:
    """A transaction that is older than another's write stamps later than that write, not its own beginning."""
    one.worker.says("BEGIN")
    began = one.worker.says("SELECT now()")
    assert one.reconciler.says(one.renew) is True
    other = one.read("steps.updated_at")
    assert one.worker.says(one.renew) is True
    one.worker.says("COMMIT")
    assert began < other <= one.read("steps.updated_at")


def test_i7d_an_end_that_waited_is_stamped_after_its_wait(one: Ring) -> None:
    """The cancel begins before the beat's commit, and is stamped after the beat."""
    one.worker.says("BEGIN")
    assert one.worker.says(one.renew) is True
    canceled = one.reconciler.begins(one.cancel)
    one.reconciler.waits()
    released = one.owner.execute("SELECT clock_timestamp()").fetchone()
    one.worker.says("COMMIT")
    assert canceled.result(30) == "ended"
    assert released is not None
    assert one.read("jobs.finished_at") > released[0]
    assert one.read("jobs.finished_at >= steps.updated_at OR steps.status = 'canceled'")


@pytest.mark.parametrize("hours", [-12, 12])
def test_i8_the_applications_clock_says_nothing(one: Ring, monkeypatch: pytest.MonkeyPatch, hours: int) -> None:
    """Twelve hours off either way: a beat of now is alive, and a silence of two hours is one."""
    true_time = time.time
    monkeypatch.setattr("time.time", lambda: true_time() + hours * 3600)
    assert one.worker.says(one.renew) is True
    assert one.reconciler.says(one.sweep) == "reprieved"
    one.owner.execute("UPDATE steps SET updated_at = updated_at - interval '2 h' WHERE id = %s", (one.step,))
    assert one.reconciler.says(one.sweep) == "swept"


def test_i9_a_finish_does_not_overwrite_a_cancel(one: Ring) -> None:
    """The answer waits behind the cancel, and finds no row to write: discarded, and the job stays as it ended."""
    one.reconciler.says("BEGIN")
    assert one.reconciler.says(one.cancel) == "ended"
    answer = one.worker.begins(one.finish)
    one.worker.waits()
    one.reconciler.says("COMMIT")
    assert answer.result(30) is False
    assert one.read("jobs.status") == "canceled"
    count = one.owner.execute("SELECT count(*) FROM events WHERE job_id = %s AND step_id IS NULL", (one.job,))
    assert count.fetchone() == (1,)


def test_i10_a_cancel_and_a_callback_wait_in_one_order(one: Ring) -> None:
    """Both lock the job first: the one that is late waits, and neither holds what the other needs; nor do two beats."""
    for side in (one.worker, one.reconciler):
        side.says("BEGIN")
    assert one.worker.says(one.renew) is True
    canceled = one.reconciler.begins(one.cancel)
    one.reconciler.waits()
    assert one.worker.says(one.renew) is True  # it holds the job already, and goes on to its step
    one.worker.says("COMMIT")
    assert canceled.result(30) == "ended"
    one.reconciler.says("COMMIT")


def test_i11_nothing_is_written_under_a_job_that_is_being_swept(one: Ring) -> None:
    """FOR UPDATE keeps new steps out, a step's own writers ask for the job first, and both find it ended."""
    block = one.job
    insert = f"INSERT INTO steps (job_id, block_id, check_name) VALUES ('{one.job}', '{block}', 'openings')"
    one.reconciler.says("BEGIN")
    assert one.reconciler.says(one.sweep) == "swept"
    locked = one.worker.begins(f"SELECT lock_job('{one.job}')")
    one.worker.waits()
    one.onlooker.says("SET lock_timeout = '200ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        one.onlooker.says(insert)
    one.reconciler.says("COMMIT")
    assert locked.result(30) == "canceled"
    assert one.worker.says(f"SELECT outcome FROM claim_step('{one.step}', 60)") == "job ended"
