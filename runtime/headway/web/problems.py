"""What went wrong, in one shape: {"error": {"code": ..., "message": ...}}, whoever noticed it."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import fastapi
import fastapi.exceptions
import pydantic
import sqlalchemy as sa
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from headway.jobs import JobStoreError
from headway.jobs.database import first_line
from headway.producer import BucketError, KeyReusedError, SubmitError
from headway.vision.image import DrawingError

logger = logging.getLogger(__name__)

_SHOWN_INPUT = 80
#: Seconds after which what does not answer is worth another try.
_AGAIN_S = "5"
#: The job store does not answer, or has no connection left to give.
STORE_AWAY = (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.TimeoutError)


class Problem(pydantic.BaseModel):
    """``code`` is for programs and stays, ``message`` is one line for people."""

    code: str
    message: str


class ProblemDocument(pydantic.BaseModel):
    """The body of every answer that is not a success."""

    error: Problem


class RequestError(HTTPException):
    """A request that is refused, with the answer to it; FastAPI lets this kind pass where it reads bodies."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, message, headers)
        self.code = code


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return OpenAPI's answers for these statuses, and for those that any request may get."""
    return {
        status: {"model": ProblemDocument, "description": HTTPStatus(status).phrase}
        for status in sorted({401, 403, 503, *statuses})
    }


def problem_of(error: Exception) -> RequestError | None:
    """Return the answer to what a request's work raised; None where nobody foresaw it."""
    match error:
        case RequestError():
            return error
        case DrawingError():
            return RequestError(422, "not_a_drawing", str(error))
        case KeyReusedError():
            return RequestError(409, "idempotency_key_reused", str(error))
        case SubmitError() | BucketError() | JobStoreError():
            return RequestError(503, "unavailable", str(error), {"Retry-After": _AGAIN_S})
        case sa.exc.OperationalError() | sa.exc.InterfaceError():
            text = f"the job store does not answer: {first_line(error)}"
            return RequestError(503, "unavailable", text, {"Retry-After": _AGAIN_S})
        case sa.exc.TimeoutError():
            return RequestError(503, "unavailable", "the job store is busy", {"Retry-After": _AGAIN_S})
        case fastapi.exceptions.RequestValidationError():
            return RequestError(422, "invalid_request", _invalid(error))
        case HTTPException():
            code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
            return RequestError(error.status_code, code, str(error.detail), error.headers)
    return None


def answer(problem: RequestError) -> JSONResponse:
    """Return a problem as it is sent."""
    document = {"error": {"code": problem.code, "message": problem.detail}}
    return JSONResponse(document, problem.status_code, problem.headers)


def install(app: fastapi.FastAPI) -> None:
    """Answer every error of the application in this shape; what nobody foresaw is logged, and says nothing outside."""
    kinds: tuple[type[Exception], ...] = (
        *(DrawingError, KeyReusedError, SubmitError, BucketError, JobStoreError),
        *(*STORE_AWAY, fastapi.exceptions.RequestValidationError, HTTPException),
    )
    for kind in kinds:
        app.add_exception_handler(kind, _foreseen)
    app.add_exception_handler(Exception, _unforeseen)


async def _foreseen(_request: fastapi.Request, error: Exception) -> JSONResponse:
    problem = problem_of(error)
    if problem is None:
        raise error
    return answer(problem)


async def _unforeseen(_request: fastapi.Request, _error: Exception) -> JSONResponse:
    # Starlette raises it again behind this answer, and the server logs it with its traceback.
    return answer(RequestError(500, "internal_error", "an error that nobody foresaw; it is in the service's log"))


def _invalid(error: fastapi.exceptions.RequestValidationError) -> str:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    given = first.get("input")
    # What is missing has its surroundings for an input. ASCII: a lone surrogate cannot be sent back.
    shown = "" if first["type"] == "missing" or given is None else f" = {ascii(given)[:_SHOWN_INPUT]}"
    said = ascii(first["msg"])[1:-1].removeprefix("Value error, ")
    return f"{field}{shown}: {said[:1].lower()}{said[1:]}"
