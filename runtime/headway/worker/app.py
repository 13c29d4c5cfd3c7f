"""The Celery app of a worker: its settings, its two tasks, its bootsteps."""

import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID

import celery
import sqlalchemy as sa

from headway.clock import StageClock
from headway.contract import WorkerEnv
from headway.jobs.database import first_line
from headway.producer.broker import BLOCKSPLIT, RUN_STEP
from headway.worker.blocksplit import blocksplit
from headway.worker.guard import ProtectionGuard
from headway.worker.health import PollWatch
from headway.worker.lease import LeaseKeeper
from headway.worker.resources import Resources
from headway.worker.settings import worker_settings
from headway.worker.step import run_step
from headway.worker.verdicts import BuryError, HandBackError

logger = logging.getLogger(__name__)


class WorkerApp(celery.Celery):
    """A Celery app that its bootsteps find their stage's environment and clock on, as ``app.headway``."""

    def __init__(self, env: WorkerEnv, clock: StageClock) -> None:
        super().__init__("headway", task_cls="headway.worker.app:WorkerTask")
        self.headway = (env, clock)
        self.conf.update(worker_settings(env, clock))
        self.steps["consumer"].update({LeaseKeeper, PollWatch, ProtectionGuard})


class WorkerTask(celery.Task):  # type: ignore[type-arg]  # generic in the stubs only
    """A task whose messages are settled by headway.worker.request."""

    Request = "headway.worker.request:Request"


def create_app(resources: Resources) -> WorkerApp:
    """Return the app with both tasks: where a stage has no fast lane, the heavy lane's workers split drawings too."""
    app = WorkerApp(resources.env, resources.clock)

    def send_step(step_id: UUID) -> None:
        # Without the two Nones, Celery 5.7 sends this worker's own limits along (Celery.send_task merges a registered
        # task's options), and a five-second lane's would end a 25-minute call on the other.
        app.send_task(
            RUN_STEP, args=[str(step_id)], queue=resources.env.main_lane, time_limit=None, soft_time_limit=None
        )

    def register(name: str, work: Callable[[UUID], None]) -> None:
        @app.task(name=name)
        def _task(*args: Any) -> None:
            job_or_step = _only_id(args)
            try:
                work(job_or_step)
            except sa.exc.OperationalError as error:
                # As late as the message may be, so that a short outage does not use its receives up.
                raise HandBackError(f"job store: {first_line(error)}", resources.lease_s) from None

    register(BLOCKSPLIT, lambda job_id: blocksplit(job_id, resources, send_step))
    register(RUN_STEP, lambda step_id: run_step(step_id, resources))
    return app


def _only_id(args: tuple[Any, ...]) -> UUID:
    try:
        (text,) = args
        return UUID(text)
    except (ValueError, TypeError, AttributeError):
        raise BuryError(f"arguments {args!r}: must be one id") from None
