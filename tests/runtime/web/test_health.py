"""Health: /healthz says which part is away, /livez says only that the service answers."""

import pytest

from headway_ops.local.postgres import Server
from tests.runtime.support.database import job_store_away
from tests.runtime.support.drawings import drawing
from tests.runtime.support.stage import Stage
from tests.runtime.support.web import Web, web_service


def test_a_healthy_stage_is_ok(web: Web) -> None:
    """Anybody may ask; both parts answer."""
    answer = web.stranger.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"job_store": "ok", "queues": "ok"})


def test_a_lane_that_is_gone_shows(stage: Stage, web: Web, caplog: pytest.LogCaptureFixture) -> None:
    """503, and which part it is; what SQS said is in the log alone, and the service itself is alive."""
    stage.sqs.delete_queue(QueueUrl=stage.queue_urls["fast"])
    answer = web.stranger.get("/healthz")
    assert (answer.status_code, answer.json()) == (503, {"job_store": "ok", "queues": "unavailable"})
    assert "NonExistentQueue" in caplog.text
    assert web.stranger.get("/livez").status_code == 200


def test_a_job_store_that_is_away_is_a_503_wherever_it_is_asked(
    stage: Stage, web: Web, postgres_server: Server
) -> None:
    """One line, and when to try again; nothing is lost, and what was asked with a key can be asked again."""
    job = web.api.post("/jobs", files={"file": ("a.png", drawing(1))}).json()["id"]
    person = web.person()
    with job_store_away(postgres_server.owner):
        health = web.stranger.get("/healthz")
        assert (health.status_code, health.json()) == (503, {"job_store": "unavailable", "queues": "ok"})
        assert web.stranger.get("/livez").status_code == 200
        for method, path in (("GET", "/jobs"), ("GET", f"/jobs/{job}"), ("POST", f"/jobs/{job}/cancel")):
            answer = web.api.request(method, path)
            assert (path, answer.status_code, answer.json()["error"]["code"]) == (path, 503, "unavailable")
            assert answer.json()["error"]["message"].startswith("the job store does not answer: ")
            assert int(answer.headers["retry-after"]) > 0
        submitted = web.api.post("/jobs", files={"file": ("b.png", drawing(2))}, headers={"Idempotency-Key": "again"})
        assert submitted.status_code == 503
        assert person.get("/").status_code == 503
    again = web.api.post("/jobs", files={"file": ("b.png", drawing(2))}, headers={"Idempotency-Key": "again"})
    assert again.status_code == 201
    assert web.api.post(f"/jobs/{job}/cancel").status_code == 200


def test_a_bucket_that_is_gone_is_a_503(stage: Stage) -> None:
    """The drawing was fine: trying again may do."""
    with web_service(stage, drawings_bucket="no-such-bucket") as web:
        answer = web.api.post("/jobs", files={"file": ("a.png", drawing(1))})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")


def test_what_nobody_foresaw_is_one_line_that_tells_nothing(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """500 in the one shape: the details are in the log, and in nobody else's hands."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr("headway.web.jobs.list_jobs", fail)
    answer = web.api.get("/jobs")
    assert answer.status_code == 500
    assert answer.json() == {
        "error": {"code": "internal_error", "message": "an error that nobody foresaw; it is in the service's log"}
    }


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("DELETE", "/jobs", 405, "method_not_allowed"),
        ("GET", "/docs", 404, "not_found"),
    ],
)
def test_what_is_not_there_is_told_in_the_same_shape(web: Web, method: str, path: str, status: int, code: str) -> None:
    """Also where no route was found, or none for the method."""
    answer = web.api.request(method, path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
