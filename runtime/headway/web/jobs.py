"""The API's jobs: submit, list, look, cancel."""

import logging
from typing import Annotated
from uuid import UUID

import fastapi
from fastapi.responses import JSONResponse

from headway.jobs import JobView, Outcome, cancel_job, job_view, list_jobs
from headway.producer import Submitted
from headway.web.bodies import (
    SUBMISSION,
    Cancellation,
    IdempotencyKey,
    Listing,
    StoredDrawing,
    UploadedDrawing,
    each_once,
    submission,
)
from headway.web.documents import CanceledDocument, EndDocument, JobDocument, JobsDocument, JobSummaryDocument
from headway.web.guard import Caller
from headway.web.problems import RequestError, documented
from headway.web.service import Service, Serving

logger = logging.getLogger(__name__)
router = fastapi.APIRouter(tags=["jobs"])

_REASON = "canceled by a person"


@router.post(
    "/jobs",
    status_code=201,
    response_model=JobDocument,
    responses={
        200: {"model": JobDocument, "description": "The job that the idempotency key has made before"},
        **documented(400, 409, 413, 415, 422),
    },
    openapi_extra={"requestBody": SUBMISSION},
)
async def submit(
    service: Serving, caller: Caller, request: fastapi.Request, idempotency_key: IdempotencyKey = ""
) -> JSONResponse:
    """Submit a drawing: a form with its file, or JSON with its key in the stage's bucket."""
    async with submission(request) as drawing:
        submitted = await take_in(service, drawing, idempotency_key, caller)
    document = JobDocument.of_view(await look(service, submitted.job_id))
    return JSONResponse(
        document.model_dump(mode="json"),
        201 if submitted.created else 200,
        {"Location": f"/jobs/{submitted.job_id}"},
    )


@router.get("/jobs", responses=documented(422), dependencies=[fastapi.Depends(each_once)])
async def jobs(service: Serving, caller: Caller, listing: Annotated[Listing, fastapi.Query()]) -> JobsDocument:
    """List jobs, newest first."""
    found = await service.aside(list_jobs, service.engine, limit=listing.limit, before=listing.before)
    return JobsDocument(
        jobs=[JobSummaryDocument.of(summary) for summary in found],
        before=found[-1].created_at if len(found) == listing.limit else None,
    )


@router.get("/jobs/{job_id}", responses=documented(404, 422))
async def job(service: Serving, caller: Caller, job_id: UUID) -> JobDocument:
    """Show a job with its blocks and their results."""
    return JobDocument.of_view(await look(service, job_id))


@router.post("/jobs/{job_id}/cancel", responses=documented(400, 404, 409, 413, 422))
async def cancel(
    service: Serving, caller: Caller, job_id: UUID, cancellation: Cancellation | None = None
) -> CanceledDocument:
    """Cancel a job; asked twice, it answers twice with the one event."""
    return await end(service, job_id, caller, cancellation.reason if cancellation else "")


async def take_in(
    service: Service, drawing: UploadedDrawing | StoredDrawing, idempotency_key: str, caller: str
) -> Submitted:
    """Submit what was read.

    Raises:
        DrawingError, KeyReusedError, SubmitError: as `headway.producer.Producer.submit_once`.
    """
    producer = service.producer

    def submit() -> Submitted:
        if isinstance(drawing, StoredDrawing):
            return producer.submit_stored(drawing.key, drawing.name, idempotency_key=idempotency_key)
        return producer.submit_once(drawing.file.read(), drawing.name, idempotency_key=idempotency_key)

    submitted = await service.in_turn(submit)
    logger.info("job %s submitted by %s%s", submitted.job_id, caller, "" if submitted.created else ", again")
    return submitted


async def look(service: Service, job_id: UUID) -> JobView:
    """Return a job.

    Raises:
        RequestError: 404 where there is none.
    """
    view = await service.aside(job_view, service.engine, job_id)
    if view is None:
        raise _not_found(job_id)
    return view


async def end(service: Service, job_id: UUID, caller: str, reason: str) -> CanceledDocument:
    """Cancel a job.

    Raises:
        RequestError: 404 where there is none, 409 where it has ended otherwise.
    """
    ending = await service.aside(cancel_job, service.engine, job_id, actor=caller, reason=reason or _REASON)
    if ending.status is None or ending.end is None:
        raise _not_found(job_id)
    if ending.outcome is Outcome.FINISHED:
        raise RequestError(409, "job_ended", f"job {job_id}: already {ending.status}")
    logger.info("job %s canceled by %s", job_id, ending.end.actor)
    return CanceledDocument(job=job_id, status=ending.status, event=EndDocument.of(ending.end))


def _not_found(job_id: UUID) -> RequestError:
    return RequestError(404, "job_not_found", f"job {job_id} not found")
