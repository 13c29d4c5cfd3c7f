"""Settles messages in the main process, by what their tasks said in the pool."""

import logging
from typing import Any

import celery.worker.request
from celery.utils.serialization import get_pickled_exception
from celery.worker.state import task_ready

from headway.worker.verdicts import BuryError, HandBackError

logger = logging.getLogger(__name__)


class Request(celery.worker.request.Request):
    """A request whose task may hand its message back with a delay, or bury it with a reason."""

    def on_failure(self, exc_info: Any, send_failed_event: bool = True, return_ok: bool = False) -> None:
        """Settle the message; anything but our own verdicts is Celery's to judge."""
        verdict = get_pickled_exception(exc_info.exception)
        if isinstance(verdict, HandBackError):
            logger.info("%s[%s] handed back: %s", self.name, self.id, verdict.reason)
            task_ready(self)
            self.message.hand_back(verdict.delay_s)
        elif isinstance(verdict, BuryError):
            task_ready(self)
            self.message.bury(verdict.reason)
        else:
            super().on_failure(exc_info, send_failed_event=send_failed_event, return_ok=return_ok)
