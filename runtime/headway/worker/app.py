"""The Celery app of a worker and its two tasks."""

import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID

import celery
import sqlalchemy as sa

from headway.jobs.database import first_line
from headway.producer.broker import BLOCKSPLIT, RUN_STEP
from headway.worker.blocksplit import blocksplit
from headway.worker.configuring import configure
from headway.worker.resources import Resources
from headway.worker.settings import hard_limit_s
from headway.worker.step import run_step
from headway.worker.verdicts import BuryError, HandBackError

logger = logging.getLogger(__name__)


def create_app(resources: Resources) -> celery.Celery:
    """Return the app with both tasks: where a stage has no fast lane, the heavy lane's workers split drawings too."""
    app = celery.Celery("headway")
    configure(app, resources.env, resources.stop)

    def send_step(step_id: UUID) -> None:
        # Without the two Nones, Celery 5.7 sends this worker's own limits along (Celery.send_task merges a registered
        # task's options), and a five-second lane's would end a 25-minute call on the other.
        app.send_task(
            RUN_STEP, args=[str(step_id)], queue=resources.env.main_lane, time_limit=None, soft_time_limit=None
        )

    def register(name: str, work: Callable[[UUID], None], **options: Any) -> None:
        @app.task(name=name, **options)
        def _task(*args: Any) -> None:
            job_or_step = _only_id(args)
            try:
                work(job_or_step)
            except sa.exc.OperationalError as error:
                # As late as the message may be, so that a short outage does not use its receives up.
                raise HandBackError(f"job store: {first_line(error)}", resources.lease_s) from None

    register(BLOCKSPLIT, lambda job_id: blocksplit(job_id, resources, send_step))
    # A step keeps its soft limit itself, on every pool; Celery's signal could meet it in the middle of a write.
    hard_limit = hard_limit_s(resources.env, resources.clock)
    register(RUN_STEP, lambda step_id: run_step(step_id, resources), soft_time_limit=hard_limit)
    return app


def _only_id(args: tuple[Any, ...]) -> UUID:
    try:
        (text,) = args
        return UUID(text)
    except (ValueError, TypeError, AttributeError):
        raise BuryError(f"arguments {args!r}: must be one id") from None
