"""What a request may say, and how it is read: bounds and characters are checked before anything is done with it."""

import contextlib
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any, BinaryIO

import fastapi
import pydantic
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import UploadFile

from headway.web.problems import RequestError

#: "Date and Time on the Internet: Timestamps", RFC 3339, 5.6.
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?(?P<zone>[Zz]|[+-]\d\d:\d\d)?")
#: What PostgreSQL cannot store in text, or a log would break at.
Line = Annotated[str, pydantic.StringConstraints(pattern=r"^[^\x00-\x1f\x7f]*$", max_length=255)]
#: "Idempotency-Key HTTP Header Field" (IETF draft): the client's own word for one submission.
IdempotencyKey = Annotated[
    str,
    fastapi.Header(
        alias="Idempotency-Key",
        pattern=r"^[\x21-\x7e]*$",
        max_length=255,
        description="Repeat a request with the same key: one job, whatever became of the first answer.",
    ),
]


def _certain(value: Any) -> Any:
    """Refuse a time that names no certain moment, before it is read as one: without its zone, or a mere number."""
    if isinstance(value, str):
        found = _TIME.fullmatch(value)
        if not found or not found["zone"]:
            raise ValueError("must be a time with its zone, as 2026-11-29T12:00:00Z")
    return value


class Listing(pydantic.BaseModel):
    """Which jobs to list: the newest ``limit`` of those that were created ``before`` a time."""

    model_config = pydantic.ConfigDict(extra="forbid")

    limit: Annotated[int, pydantic.Field(ge=1, le=200)] = 50
    before: Annotated[pydantic.AwareDatetime, pydantic.BeforeValidator(_certain)] | None = None


def each_once(request: fastapi.Request) -> None:
    """Refuse a query that says something twice: which of them it means is nobody's to guess.

    Raises:
        RequestError: 422.
    """
    for name in request.query_params:
        if len(request.query_params.getlist(name)) > 1:
            raise RequestError(422, "invalid_request", f"query.{ascii(name)[1:-1][:80]}: given more than once")


class StoredDrawing(pydantic.BaseModel):
    """A drawing that lies in the stage's bucket under ``key``, which begins with ``drawings/``."""

    model_config = pydantic.ConfigDict(extra="forbid")

    key: Annotated[str, pydantic.StringConstraints(pattern=r"^drawings/[^\x00-\x1f\x7f]+$", max_length=1_024)]
    name: Line = ""


@dataclass(frozen=True)
class UploadedDrawing:
    """A file that a form brought: on disk where it is large, and read by whoever opens it, when it is their turn."""

    file: BinaryIO
    name: str


class Cancellation(pydantic.BaseModel):
    """Why a job is canceled, for its event."""

    model_config = pydantic.ConfigDict(extra="forbid")

    reason: Line = ""


#: Both ways to submit, for OpenAPI: the body is read by hand, after the token was checked.
SUBMISSION: dict[str, Any] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {"type": "string", "format": "binary", "description": "The drawing, PNG or PDF."}
                },
            }
        },
        "application/json": {"schema": StoredDrawing.model_json_schema()},
    },
}


@contextlib.asynccontextmanager
async def submission(request: fastapi.Request) -> AsyncIterator[UploadedDrawing | StoredDrawing]:
    """Yield the drawing that was uploaded, or where it lies.

    Raises:
        RequestError: 415 where the body is neither a form nor JSON.
        RequestValidationError: a form without a file, or JSON of another shape.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        yield _parsed(await request.body())
        return
    if kind == "multipart/form-data":
        async with upload(request) as uploaded:
            yield uploaded
        return
    shown = ascii(kind)[:80]
    text = f"content-type {shown} not accepted: send multipart/form-data with a file, or application/json with a key"
    raise RequestError(415, "unsupported_media_type", text)


@contextlib.asynccontextmanager
async def upload(request: fastapi.Request) -> AsyncIterator[UploadedDrawing]:
    """Yield the file of a form, which is gone afterwards.

    Raises:
        RequestValidationError: the form has no file.
        HTTPException: 400 where the form is none.
    """
    async with request.form(max_files=1, max_fields=8) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise RequestValidationError([{"type": "missing", "loc": ("body", "file"), "msg": "Field required"}])
        yield UploadedDrawing(file.file, file.filename or "")


def _parsed(body: bytes) -> StoredDrawing:
    try:
        return StoredDrawing.model_validate_json(body, strict=True)
    except pydantic.ValidationError as error:
        found = [{**each, "loc": ("body", *each["loc"])} for each in error.errors(include_url=False)]
        raise RequestValidationError(found) from None
