"""Whoever works for a job hears of its end at once, over real connections."""

import threading

import pytest

from headway.contract import DatabaseSecret
from headway.jobs import cancel_job, connect
from headway.worker import endings
from headway.worker.endings import Endings
from headway_ops.local.postgres import Server
from tests.runtime.jobs.cases import claimed, cut_job
from tests.runtime.support.database import job_store_away
from tests.runtime.support.waiting import until


def test_the_end_of_a_watched_job_is_told_and_of_no_other(database: DatabaseSecret) -> None:
    """Two jobs are worked on; one is canceled."""
    engine, heard, other = connect(database), threading.Event(), threading.Event()
    jobs = [cut_job(engine) for _ in range(2)]
    for _, (step_id,) in jobs:
        claimed(engine, step_id)
    (canceled, _), (kept, _) = jobs
    hearing = Endings(database)
    with hearing.watching(canceled, heard.set), hearing.watching(kept, other.set):
        cancel_job(engine, canceled, actor="a person", reason="changed my mind")
        assert heard.wait(30)
        assert not other.is_set()
    engine.dispose()


def test_an_end_before_the_watch_is_told_too(database: DatabaseSecret) -> None:
    """The job ended between the claim and the wait for its call: before anybody listened, or after."""
    engine, hearing = connect(database), Endings(database)
    for _ in range(2):
        job_id, (step_id,) = cut_job(engine)
        claimed(engine, step_id)
        cancel_job(engine, job_id, actor="a person", reason="changed my mind")
        heard = threading.Event()
        with hearing.watching(job_id, heard.set):
            assert heard.wait(30)
    engine.dispose()


def test_an_end_during_an_outage_is_told_after_it(
    database: DatabaseSecret, postgres_server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The connection is lost; the job ends before there is another; then the job is asked for."""
    monkeypatch.setattr(endings, "_AGAIN_S", 0.05)
    engine, heard, hearing = connect(database), threading.Event(), Endings(database)
    job_id, (step_id,) = cut_job(engine)
    claimed(engine, step_id)
    with hearing.watching(job_id, heard.set):
        with job_store_away(postgres_server.owner):
            until(lambda: "not heard for a while" in caplog.text, what="the loss")
        cancel_job(engine, job_id, actor="a person", reason="changed my mind")
        assert heard.wait(30)
    engine.dispose()
