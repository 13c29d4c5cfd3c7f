"""Server-sent events: each change once, from where a client left off, until the job or the service ends."""

import json
import threading
import uuid
from collections.abc import Iterator
from typing import Any

from headway.jobs import begin_job, cancel_job, finish_step
from headway_ops.local.postgres import Server
from tests.runtime.jobs.cases import OK, claimed, cut_job, new_job
from tests.runtime.support.database import job_store_away
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until
from tests.runtime.support.web import Web, web_service


def follow(web: Web, job_id: uuid.UUID, *, last: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yield each event of a job as (event, id, data)."""
    headers = {"Last-Event-ID": last} if last else {}
    with web.api.stream("GET", f"/jobs/{job_id}/events", headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        fields: dict[str, str] = {}
        for line in answer.iter_lines():
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif "data" in fields:
                yield fields["event"], fields.get("id", ""), json.loads(fields["data"])
                fields = {}


def test_each_change_is_an_event_and_the_end_is_the_last(stage: Stage, web: Web) -> None:
    """The job as it is, then after each step, then its end; the cost grows with it."""
    job_id, step_ids = cut_job(stage.engine, blocks=2)
    seen = []
    for event, _, job in follow(web, job_id):
        seen.append((event, job.get("status"), job.get("steps"), job.get("cost_usd")))
        if step_ids:
            finish_step(stage.engine, claimed(stage.engine, step_ids.pop(0)), result={"count": 1}, paid=[OK])
    ends = [(each[1], each[3]) for each in seen]
    assert ends[0] == ("running", 0.0)
    assert ends[-2:] == [("succeeded", 1.0), (None, None)]
    assert [each[0] for each in seen] == [*["job"] * (len(seen) - 1), "end"]
    assert ("running", 0.5) in ends


def test_a_client_that_comes_back_is_told_only_what_is_new(stage: Stage, web: Web) -> None:
    """With the last event's id it hears of the next change, and not of what it has seen."""
    job_id, (step_id,) = cut_job(stage.engine)
    _, last, _ = next(follow(web, job_id))
    again = follow(web, job_id, last=last)
    heard: list[Any] = []
    listening = threading.Thread(target=lambda: heard.extend(again))
    listening.start()
    finish_step(stage.engine, claimed(stage.engine, step_id), result={"count": 1})
    listening.join(30)
    assert last not in [each[1] for each in heard]
    assert heard[-2][2]["status"] == "succeeded"


def test_a_job_that_has_ended_is_told_once_and_the_stream_ends(stage: Stage, web: Web) -> None:
    """Also for a client that has seen its end: nothing would ever come."""
    job_id = new_job(stage.engine)
    cancel_job(stage.engine, job_id, actor="test", reason="enough")
    first = list(follow(web, job_id))
    assert [each[0] for each in first] == ["job", "end"]
    assert [each[0] for each in follow(web, job_id, last=first[0][1])] == ["end"]


def test_a_stream_with_nothing_to_tell_gives_signs_of_life(stage: Stage) -> None:
    """A comment, which clients pass over, before a load balancer would think that nobody is there."""
    with web_service(stage, keepalive_s=0) as web:
        job_id = new_job(stage.engine)
        with web.api.stream("GET", f"/jobs/{job_id}/events") as answer:
            assert next(line for line in answer.iter_lines() if line.startswith(":")) == ": still here"


def test_a_stream_outlives_its_job_store(stage: Stage, web: Web, postgres_server: Server) -> None:
    """While the store is away the stream waits; what happened meanwhile comes when it is back."""
    job_id = new_job(stage.engine)
    events = follow(web, job_id)
    assert next(events)[2]["status"] == "pending"
    with job_store_away(postgres_server.owner):
        until(lambda: web.api.get("/healthz").status_code == 503, what="the job store's absence to show")
    begin_job(stage.engine, job_id)
    assert next(events)[2]["status"] == "running"


def test_streams_end_when_the_service_is_told_to_stop(stage: Stage, web: Web) -> None:
    """Without an `end`: the job goes on, and the client comes back to another task."""
    job_id = new_job(stage.engine)
    events = follow(web, job_id)
    next(events)
    web.service.stopping.set()
    assert list(events) == []


def test_a_result_that_comes_too_late_shows_its_cost_and_changes_nothing_else(stage: Stage, web: Web) -> None:
    """A call that was paid for after the cancel is in the job's cost, for whoever looks."""
    job_id, (step_id,) = cut_job(stage.engine)
    claim = claimed(stage.engine, step_id)
    cancel_job(stage.engine, job_id, actor="test", reason="enough")
    assert not finish_step(stage.engine, claim, result={"count": 1}, paid=[OK])
    job = web.api.get(f"/jobs/{job_id}").json()
    assert (job["status"], job["cost_usd"]) == ("canceled", 0.5)
    assert [step["result"] for block in job["blocks"] for step in block["steps"]] == [None]
