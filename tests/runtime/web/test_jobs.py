"""The API's jobs, over HTTP: submitted, shown, listed, canceled; and every request that is refused, with its reason."""

import json
import os
import uuid
from typing import Any

import httpx2
import pytest
from PIL import Image

from headway.jobs import finish_step, job_view, list_jobs
from tests.runtime.jobs.cases import claimed
from tests.runtime.support.drawings import drawing
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until
from tests.runtime.support.web import Web
from tests.runtime.vision.drawings import png

_DRAWING = drawing(2)
_NOBODY = "00000000-0000-4000-8000-000000000000"


def upload(web: Web, data: bytes = _DRAWING, name: str = "plan.png", key: str = "") -> httpx2.Response:
    """Submit a drawing as a form."""
    headers = {"Idempotency-Key": key} if key else {}
    return web.api.post("/jobs", files={"file": (name, data, "image/png")}, headers=headers)


def problem(answer: httpx2.Response) -> tuple[int, str, str]:
    """Return an answer's status, code and message; its body has that one shape and nothing else."""
    document = answer.json()
    assert document.keys() == {"error"}
    assert document["error"].keys() == {"code", "message"}
    assert "\n" not in document["error"]["message"]
    return answer.status_code, document["error"]["code"], document["error"]["message"]


def test_an_upload_becomes_a_job_with_a_message(stage: Stage, web: Web) -> None:
    """201, where the job is, and the job; its drawing is in the bucket and its message in the lane."""
    answer = upload(web)
    assert answer.status_code == 201
    job = answer.json()
    assert answer.headers["location"] == f"/jobs/{job['id']}"
    assert (job["name"], job["status"], job["blocks"], job["cost_usd"]) == ("plan.png", "pending", [], 0.0)
    assert stage.counts() == (1, 0)
    assert web.api.get(answer.headers["location"]).json() == job


def test_a_stored_drawing_becomes_a_job_by_its_key(stage: Stage, web: Web) -> None:
    """What lies in the bucket is not sent again."""
    stage.s3.put_object(Bucket=stage.bucket, Key="drawings/site/2.png", Body=_DRAWING)
    answer = web.api.post("/jobs", json={"key": "drawings/site/2.png", "name": "Level 2"})
    assert (answer.status_code, answer.json()["name"]) == (201, "Level 2")


def test_a_repeated_key_answers_with_the_first_job(stage: Stage, web: Web) -> None:
    """200 instead of 201, the same id, one job; another drawing under the key is 409."""
    first, second = upload(web, key="k-1"), upload(web, key="k-1")
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    assert len(list_jobs(stage.engine)) == 1
    status, code, message = problem(upload(web, drawing(1), key="k-1"))
    assert (status, code) == (409, "idempotency_key_reused")
    assert message == f"the idempotency key has made job {first.json()['id']} of another drawing"


def test_a_drawing_of_more_than_a_message_can_hold_is_stored_and_sent_by_its_key(stage: Stage, web: Web) -> None:
    """SQS takes 1,048,576 bytes; a larger drawing is no larger a message."""
    # Noise does not compress: 1,200 x 1,200 pixels of it are more than 1.4 MB as a PNG.
    noise = png(Image.frombytes("L", (1_200, 1_200), os.urandom(1_440_000)))
    assert len(noise) > 1_048_576
    assert upload(web, noise).status_code == 201
    (message,) = stage.sqs.receive_message(QueueUrl=stage.queue_urls["heavy"])["Messages"]
    assert len(message["Body"]) < 2_500


def test_a_name_loses_what_postgresql_and_terminals_choke_on(web: Web) -> None:
    """U+0000 and escapes are no part of a name."""
    body = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a\x00b\x1b[31m.png"\r\n\r\n%b\r\n--b--\r\n'
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    answer = web.api.post("/jobs", content=body % _DRAWING, headers=kind)
    assert (answer.status_code, answer.json()["name"]) == (201, "ab[31m.png")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"key": "drawings/a\x00.png"}, "body.key = 'drawings/a\\x00.png': string should match pattern"),
        ({"key": "drawings/\ud800"}, "body = "),
        ({"key": "elsewhere/a.png"}, "body.key = 'elsewhere/a.png': string should match pattern"),
        ({"key": "drawings/a.png", "name": "a\x00"}, "body.name = 'a\\x00': string should match pattern"),
        ({"key": "drawings/a.png", "nmae": "x"}, "body.nmae = 'x': extra inputs are not permitted"),
        ({"key": 7}, "body.key = 7: input should be a valid string"),
        ({}, "body.key: field required"),
        ([], "body = []: input should be an object"),
        ({"key": "drawings/none.png"}, "no drawing is stored under 'drawings/none.png'"),
    ],
)
def test_json_of_another_shape_is_refused(stage: Stage, web: Web, body: Any, message: str) -> None:
    """422 and one line: field, value, bound; no job."""
    answer = web.api.post("/jobs", content=json.dumps(body), headers={"Content-Type": "application/json"})
    status, _, told = problem(answer)
    assert (status, told[: len(message)]) == (422, message)
    assert list_jobs(stage.engine) == []


@pytest.mark.parametrize(
    ("headers", "content", "status", "message"),
    [
        (
            {"Content-Type": "application/x-python-pickle"},
            b"cos\nsystem\n",
            415,
            "content-type 'application/x-python-pickle' not accepted: "
            "send multipart/form-data with a file, or application/json with a key",
        ),
        ({"Content-Type": "application/json"}, b"{", 422, "body = "),
        ({"Content-Type": "application/json"}, b"\xff\xfe", 422, "body"),
        ({"Content-Type": "multipart/form-data"}, b"x", 400, "Missing boundary in multipart."),
        ({"Content-Type": "multipart/form-data; boundary=b"}, b"--b--\r\n", 422, "body.file: field required"),
    ],
)
def test_a_body_that_is_neither_form_nor_json_is_refused(
    web: Web, headers: dict[str, str], content: bytes, status: int, message: str
) -> None:
    """A clear line each."""
    told = problem(web.api.post("/jobs", content=content, headers=headers))
    assert (told[0], told[2][: len(message)]) == (status, message)


@pytest.mark.parametrize("data", [b"", b"Dear sir,", _DRAWING[:-12]])
def test_what_is_no_drawing_is_refused(stage: Stage, web: Web, data: bytes) -> None:
    """422 with the reason, and nothing is left behind."""
    assert problem(upload(web, data))[:2] == (422, "not_a_drawing")
    assert list_jobs(stage.engine) == []
    assert stage.counts() == (0, 0)


def test_an_idempotency_key_has_a_bound(web: Web) -> None:
    """255 characters are one; 256, or a blank in it, are none."""
    assert upload(web, key="k" * 255).status_code == 201
    for key in ("k" * 256, "a b"):
        assert problem(upload(web, key=key))[0] == 422


@pytest.mark.parametrize("before", ["2026-11-29T12:00:00", "2026-11-29", "1764417600", "0.0", "noon"])
def test_a_time_without_a_zone_is_refused(web: Web, before: str) -> None:
    """Nobody knows which moment it means; with one it is taken."""
    status, _, message = problem(web.api.get("/jobs", params={"before": before}))
    bound = "must be a time with its zone, as 2026-11-29T12:00:00Z"
    assert (status, message) == (422, f"query.before = {before!r}: {bound}")
    for zone in ("Z", "+05:30"):
        assert web.api.get("/jobs", params={"before": f"2026-11-29T12:00:00.5{zone}"}).status_code == 200


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("limit=0", "query.limit = '0': input should be greater than or equal to 1"),
        ("limit=201", "query.limit = '201': input should be less than or equal to 200"),
        ("limit=1&limit=2", "query.limit: given more than once"),
        ("befoer=2026-11-29T12:00:00Z", "query.befoer = '2026-11-29T12:00:00Z': extra inputs are not permitted"),
    ],
)
def test_a_query_that_is_wrong_is_refused(web: Web, query: str, message: str) -> None:
    """Out of bounds, said twice, or misspelt: one line, and no list that looks as if it had been heeded."""
    assert problem(web.api.get(f"/jobs?{query}")) == (422, "invalid_request", message)


def test_jobs_are_listed_newest_first_and_a_page_at_a_time(web: Web) -> None:
    """``before`` of one page is where the next begins; the last one has none."""
    ids = [upload(web, name=f"{number}.png").json()["id"] for number in range(5)]
    seen: list[str] = []
    params: dict[str, Any] = {"limit": 2}
    while True:
        page = web.api.get("/jobs", params=params).json()
        seen += [job["id"] for job in page["jobs"]]
        if page["before"] is None:
            break
        params["before"] = page["before"]
    assert seen == ids[::-1]


def test_canceling_ends_the_job_once(stage: Stage, web: Web) -> None:
    """200 twice, with the one event: who, why, when."""
    job_id = upload(web).json()["id"]
    first = web.api.post(f"/jobs/{job_id}/cancel", json={"reason": "wrong drawing"})
    second = web.api.post(f"/jobs/{job_id}/cancel")
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json() == second.json()
    assert (first.json()["status"], first.json()["event"]["actor"]) == ("canceled", "api")
    assert first.json()["event"]["reason"] == "wrong drawing"
    view = job_view(stage.engine, uuid.UUID(job_id))
    assert view is not None
    assert view.summary.status == "canceled"


def test_a_job_that_is_not_there_is_not_found(web: Web) -> None:
    """404 for each way to ask for it, and 422 for an id that is none."""
    asked = (("GET", "/jobs/{}"), ("GET", "/jobs/{}/events"), ("POST", "/jobs/{}/cancel"))
    for method, path in asked:
        told = problem(web.api.request(method, path.format(_NOBODY)))
        assert told == (404, "job_not_found", f"job {_NOBODY} not found")
        assert problem(web.api.request(method, path.format("nonsense")))[0] == 422


def test_a_finished_job_cannot_be_canceled(stage: Stage, web: Web) -> None:
    """409, and it stays what it was."""
    claim = claimed(stage.engine, stage.pending_step())
    finish_step(stage.engine, claim, result={"count": 1})
    job_id = claim.job_id
    told = problem(web.api.post(f"/jobs/{job_id}/cancel"))
    assert told == (409, "job_ended", f"job {job_id}: already succeeded")


def test_a_job_that_is_canceled_while_it_waits_costs_nothing(stage: Stage, web: Web) -> None:
    """Its message is taken and dropped: no question to the model, no step, no cost."""
    job_id = upload(web).json()["id"]
    web.api.post(f"/jobs/{job_id}/cancel")
    with stage.worker("heavy"):
        until(lambda: stage.counts() == (0, 0), what="the message to be taken")
    assert stage.model.asked == []
    job = web.api.get(f"/jobs/{job_id}").json()
    assert (job["status"], job["blocks"], job["cost_usd"]) == ("canceled", [], 0.0)


def test_a_reason_has_no_control_characters(web: Web) -> None:
    """U+0000 cannot be stored, and a line's end would break a log's line."""
    job_id = upload(web).json()["id"]
    for reason in ("\x00", "a\nb", "x" * 256):
        assert problem(web.api.post(f"/jobs/{job_id}/cancel", json={"reason": reason}))[0] == 422
    assert web.api.get(f"/jobs/{job_id}").json()["status"] == "pending"
