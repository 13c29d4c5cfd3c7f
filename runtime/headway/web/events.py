"""A job's changes as they happen: server-sent events ("Server-sent events", HTML standard, 9.2).

Each event is the whole job, so that one that is missed is made good by the next. An event's id is the job's revision:
a client that comes back with it is told nothing until there is something new.
"""

import logging
from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

import anyio
import fastapi
from fastapi.responses import StreamingResponse

from headway.jobs.queries import revision
from headway.jobs.states import ACTIVE_JOB, JobStatus
from headway.web.documents import JobDocument
from headway.web.guard import Caller
from headway.web.jobs import look
from headway.web.problems import STORE_AWAY, documented
from headway.web.service import Service, Serving

logger = logging.getLogger(__name__)
router = fastapi.APIRouter(tags=["jobs"])

#: No stream looks more often than this in wall seconds, however fast the stage runs: people watch it.
_MIN_LOOK_WALL_S = 0.25
_TYPE = "text/event-stream"
_EVENT = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {
        "event": {"type": "string", "enum": ["job", "end"]},
        "id": {"type": "string", "description": "The job's revision, to come back with."},
        "data": {"type": "string", "contentMediaType": "application/json", "description": "The job, as JSON."},
    },
}


@router.get(
    "/jobs/{job_id}/events",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {_TYPE: {"schema": _EVENT}},
            "description": "`job` events, and one `end` when the job has ended",
        },
        **documented(404, 422),
    },
)
async def events(
    service: Serving,
    caller: Caller,
    job_id: UUID,
    last_event_id: Annotated[str, fastapi.Header(description="The last event that was seen.")] = "",
) -> StreamingResponse:
    """Follow a job until it ends; each `job` event is the job as `GET /jobs/{job_id}` shows it."""
    await look(service, job_id)
    return StreamingResponse(_follow(service, job_id, last_event_id), media_type=_TYPE)


async def _follow(service: Service, job_id: UUID, seen: str) -> AsyncIterator[str]:
    every_s = service.clock.wall(service.env.watch_every_s, at_least=_MIN_LOOK_WALL_S)
    status: JobStatus | None = None
    silent_s = 0.0
    while not service.stopping.is_set():
        try:
            # The revision first: what changes in between is shown now, and once more.
            now = await service.aside(revision, service.engine, job_id)
            if status is None or now != seen:
                document = JobDocument.of_view(await look(service, job_id))
                status = document.status
                if now != seen:
                    seen, silent_s = now, 0.0
                    yield f"event: job\nid: {now}\ndata: {document.model_dump_json()}\n\n"
        except STORE_AWAY:
            # It comes back, and so does what was missed: a stream that ended here would only be opened again.
            logger.warning("job %s: the job store does not answer; its stream waits", job_id)
        if status is not None and status not in ACTIVE_JOB:
            yield "event: end\ndata: {}\n\n"
            return
        if silent_s >= service.env.keepalive_s:
            silent_s = 0.0
            yield ": still here\n\n"
        silent_s += every_s
        with anyio.move_on_after(every_s):
            await service.stopping.wait()
