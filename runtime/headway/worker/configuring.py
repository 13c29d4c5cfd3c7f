"""Makes anyone's Celery app a worker of the lanes: settings, bootsteps, and how a message is settled.

app = celery.Celery("mine")
headway.worker.configure(app, WorkerEnv.from_env(os.environ))
"""

import gc
import inspect
import logging
import os
from typing import Any

import celery
from celery.signals import celeryd_after_setup, worker_before_create_process

from headway.clock import StageClock
from headway.contract import ContractError, WorkerEnv
from headway.emf import write_line
from headway.producer.routing import aliased
from headway.worker.effective import effective, ignored
from headway.worker.guard import ProtectionGuard
from headway.worker.health import PollWatch
from headway.worker.lease import LeaseKeeper
from headway.worker.settings import worker_settings
from headway.worker.setup import Setup
from headway.worker.shutdown import OrderlyStop
from headway.worker.stopping import Stop

logger = logging.getLogger(__name__)

_REQUEST = "headway.worker.request:Request"


class WorkerTask(celery.Task):  # type: ignore[type-arg]  # generic in the stubs only
    """A task whose messages are settled by headway.worker.request, and that is no coroutine."""

    Request = _REQUEST

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _refuse_coroutine(cls.name, cls.run)


def configure(app: celery.Celery, env: WorkerEnv, stop: Stop | None = None) -> None:
    """Give the app everything a worker of these lanes needs; call it before its tasks are evaluated or after.

    ``stop`` is asked shortly before a stop's time is over; tasks that look at it can give their work back themselves.

    Raises:
        ContractError: the pool or the lane cannot be used, or a task is ``async def``. Tasks that Celery evaluates
            later raise it then.
    """
    lanes = aliased(env.queue_urls, env.fast_queue, main_lane=env.main_lane)
    for warning in (lanes.warning, *ignored(app.conf.get("broker_transport_options") or {})):
        if warning:
            logger.warning(warning)
    app.headway = Setup(env, StageClock(env.speed), stop or Stop())  # type: ignore[attr-defined]  # an attribute of our own
    app.conf.update(worker_settings(env, StageClock(env.speed)))
    app.steps["consumer"].update({LeaseKeeper, OrderlyStop, PollWatch, ProtectionGuard})
    worker_before_create_process.connect(_freeze, dispatch_uid="headway")
    celeryd_after_setup.connect(_report, dispatch_uid="headway")
    app.task_cls = "headway.worker.configuring:WorkerTask"
    if app.finalized:  # type: ignore[attr-defined]  # missing in the stubs
        app.Task.Request = _REQUEST
        for name, task in app.tasks.items():
            _refuse_coroutine(name, task.run)


def _report(instance: Any, **_: Any) -> None:
    """Write what the worker runs with into its log, as one JSON line, once everybody has had their say."""
    if (setup := getattr(instance.app, "headway", None)) is not None:
        write_line(effective(instance.app, setup.env, os.environ).to_line())


def _freeze(**_: Any) -> None:
    """Leave what exists alone: the collector's first run in each child would copy all memory that it shares."""
    gc.freeze()


def _refuse_coroutine(name: str, function: Any) -> None:
    """Celery calls a task's function and takes a coroutine for its result: it reports success and runs nothing."""
    if inspect.iscoroutinefunction(function):
        raise ContractError(f"task {name}: async def would report success without running; use asyncio.run inside")
