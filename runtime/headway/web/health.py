"""Is the service there, and does what it needs answer? Two questions, because their answers call for different acts.

A load balancer replaces tasks that do not answer, and a new task mends no database: it asks ``/livez`` alone.
"""

import logging
from collections.abc import Callable
from typing import Literal

import botocore.exceptions
import fastapi
import pydantic
import sqlalchemy as sa
from fastapi.responses import JSONResponse

from headway.jobs import JobStoreError
from headway.jobs.database import check, first_line
from headway.web.problems import STORE_AWAY
from headway.web.service import Service, Serving

logger = logging.getLogger(__name__)
router = fastapi.APIRouter(tags=["health"])

State = Literal["ok", "unavailable"]

#: Where a load balancer asks.
LIVE = "/livez"
_AWAY = (JobStoreError, *STORE_AWAY, botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError)


class Health(pydantic.BaseModel):
    """Each part's state. Anybody may ask, so what is wrong with it is in the service's log, and not here."""

    job_store: State
    queues: State


class Alive(pydantic.BaseModel):
    """A service that answers."""

    status: Literal["ok"] = "ok"


@router.get(LIVE)
async def livez() -> Alive:
    """Say that this task answers requests."""
    return Alive()


@router.get("/healthz", response_model=Health, responses={503: {"model": Health, "description": "A part is away"}})
async def healthz(service: Serving) -> JSONResponse:
    """Ask the job store and the lanes."""
    health = Health(
        job_store=await _state(service, "job store", _ask_job_store),
        queues=await _state(service, "queues", _ask_queues),
    )
    healthy = health.job_store == health.queues == "ok"
    return JSONResponse(health.model_dump(), 200 if healthy else 503)


async def _state(service: Service, part: str, ask: Callable[[Service], None]) -> State:
    try:
        await service.one_probe(ask, service)
    except _AWAY as error:
        logger.warning("%s: %s", part, first_line(error) if isinstance(error, sa.exc.DBAPIError) else error)
        return "unavailable"
    return "ok"


def _ask_job_store(service: Service) -> None:
    check(service.engine)


def _ask_queues(service: Service) -> None:
    for url in service.env.queue_urls.values():
        service.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
