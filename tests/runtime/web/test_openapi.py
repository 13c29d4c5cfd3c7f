"""The API against its own OpenAPI: whatever is sent, the answer is a documented one, and never a server's error."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode, checks

from tests.runtime.support.drawings import drawing
from tests.runtime.support.stage import Stage
from tests.runtime.support.web import TOKEN, web_service

#: Of each way to generate, for each operation: 40, five hundred requests in all; by `make nightly` twenty times that.
_EXAMPLES = settings().max_examples * 2 // 5
#: A usual run tries the same requests every time, so that it cannot fail for a change that it is not about.
_SAME = _EXAMPLES < 100
_OPERATIONS = [
    ("POST", "/jobs"),
    ("GET", "/jobs"),
    ("GET", "/jobs/{job_id}"),
    ("GET", "/jobs/{job_id}/events"),
    ("POST", "/jobs/{job_id}/cancel"),
    ("GET", "/livez"),
    ("GET", "/healthz"),
]


@dataclass(frozen=True, kw_only=True)
class Api:
    """A running service's schema, and the ids of jobs that it has, all of them canceled."""

    schema: Any
    jobs: list[str]


@pytest.fixture
def api(stage: Stage) -> Iterator[Api]:
    """The schema of a running service that has a job."""
    with web_service(stage) as web:
        job = web.api.post("/jobs", files={"file": ("1.png", drawing(1))}).json()["id"]
        web.api.post(f"/jobs/{job}/cancel")
        yield Api(schema=schemathesis.openapi.from_url(f"{web.url}/openapi.json"), jobs=[job])


def test_every_operation_is_tried(api: Api) -> None:
    """The operations below are all that the document has."""
    found = [(o.ok().method.upper(), o.ok().path) for o in api.schema.get_all_operations()]
    assert sorted(found) == sorted(_OPERATIONS)


_EXCLUDED = {
    # No schema can say what a drawing is, or which one lies in the bucket.
    ("POST", "/jobs"): [checks.positive_data_acceptance],
    # A wrong parameter that is made as an empty list is not sent at all, and what is left of the query is right.
    ("GET", "/jobs"): [checks.negative_data_rejection],
}


# What asks for nothing cannot be asked wrongly.
_BROKEN = [operation for operation in _OPERATIONS if operation[1] not in ("/livez", "/healthz")]


@pytest.mark.parametrize(
    ("method", "path", "mode"),
    [
        *((*operation, GenerationMode.POSITIVE) for operation in _OPERATIONS),
        *((*operation, GenerationMode.NEGATIVE) for operation in _BROKEN),
    ],
)
def test_no_request_makes_the_server_fail(api: Api, method: str, path: str, mode: GenerationMode) -> None:
    """Valid and broken requests get documented answers of their documented shape; what is broken is refused."""
    operation = api.schema[path][method]
    excluded = _EXCLUDED.get((method, path))

    @settings(
        max_examples=_EXAMPLES, derandomize=_SAME, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(case=operation.as_strategy(generation_mode=mode), known=st.sampled_from([None, *api.jobs]))
    def holds(case: Any, known: str | None) -> None:
        if known and "job_id" in case.path_parameters and mode is GenerationMode.POSITIVE:
            case.path_parameters["job_id"] = known
        case.call_and_validate(headers={"Authorization": f"Bearer {TOKEN}"}, excluded_checks=excluded, timeout=30)

    holds()
