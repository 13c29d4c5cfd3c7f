"""How much and how many: what is too big or too many is refused in the one shape, and early."""

import contextlib
import uuid
from collections.abc import Iterator

import pytest

from headway.jobs import list_jobs
from tests.runtime.jobs.cases import new_job
from tests.runtime.support.drawings import drawing
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until
from tests.runtime.support.web import Web, web_service


@pytest.fixture
def small(stage: Stage) -> Iterator[Web]:
    """A service that takes forms of 4,000 bytes, other bodies of 3,000, and two requests at once."""
    with web_service(stage, max_upload_bytes=4_000, max_body_bytes=3_000, max_requests=2) as web:
        yield web


def test_a_form_that_says_it_is_too_big_is_refused(stage: Stage, small: Web) -> None:
    """413 with both numbers, and the connection ends: nobody reads the rest."""
    answer = small.api.post("/jobs", files={"file": ("a.png", bytes(4_000))})
    assert answer.status_code == 413
    size = int(answer.request.headers["content-length"])
    assert answer.json() == {"error": {"code": "too_big", "message": f"{size:,} bytes, at most 4,000"}}
    assert answer.headers["connection"] == "close"
    assert list_jobs(stage.engine) == []


def test_a_body_that_does_not_say_its_size_is_counted(stage: Stage, small: Web) -> None:
    """Sent in chunks it is refused as soon as it is too big, whichever kind it is."""

    def chunks() -> Iterator[bytes]:
        for _ in range(10):
            yield b" " * 1_000

    form = {"Content-Type": "multipart/form-data; boundary=b"}
    for path, headers, limit in (
        ("/jobs", form, "4,000"),
        ("/jobs", {"Content-Type": "application/json"}, "3,000"),
        (f"/jobs/{uuid.uuid4()}/cancel", {"Content-Type": "application/json"}, "3,000"),
    ):
        answer = small.api.post(path, content=chunks(), headers=headers)
        assert (path, answer.status_code) == (path, 413)
        assert answer.json()["error"]["message"].endswith(f"at most {limit}")


def test_a_drawing_that_just_fits_is_taken(small: Web) -> None:
    """The limit is the last size that passes."""
    data = drawing(1)
    body = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n%b\r\n--b--\r\n' % data
    # What follows the last boundary is no part of the form (RFC 2046, 5.1.1, epilogue).
    padded = body + b" " * (4_000 - len(body))
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    assert small.api.post("/jobs", content=padded, headers=headers).status_code == 201
    assert small.api.post("/jobs", content=padded + b" ", headers=headers).status_code == 413


def test_too_many_requests_at_once_are_refused_but_never_the_load_balancers(stage: Stage, small: Web) -> None:
    """With two streams open a third request is told to come back; /livez is answered, and so is all once one ends."""
    job_id = new_job(stage.engine)
    lines: list[Iterator[str]] = []  # one that is let go of closes its stream
    with contextlib.ExitStack() as open_streams:
        for _ in range(2):
            answer = open_streams.enter_context(small.api.stream("GET", f"/jobs/{job_id}/events"))
            lines.append(answer.iter_lines())
            assert next(lines[-1]) == "event: job"
        refused = small.stranger.get("/jobs")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "busy")
        assert refused.headers["retry-after"] == "1"
        assert small.stranger.get("/livez").status_code == 200
    until(lambda: small.api.get("/jobs").status_code == 200, what="the streams' places")
