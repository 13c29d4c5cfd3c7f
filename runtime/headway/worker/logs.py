"""Where do words go? To stderr, one line each; stdout belongs to the metric lines."""

import logging
import sys
from typing import Any

from celery.signals import setup_logging
from stamina.instrumentation import LoggingOnRetryHook, set_on_retry_hooks

from headway.worker.verdicts import BuryError, HandBackError


class _Verdicts(logging.Filter):
    """Takes the traceback from a task's verdict on its message: it is an answer, not an error."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and isinstance(record.exc_info[1], HandBackError | BuryError):
            record.exc_info = None
        return True


@setup_logging.connect
def log_to_stderr(**_: Any) -> None:
    """Set the log up, in Celery's place: a receiver of this signal keeps Celery from touching it."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_Verdicts())
    logging.basicConfig(level=logging.INFO, handlers=[handler], format="%(levelname)s %(name)s: %(message)s")
    # Where structlog is installed, Stamina would use it, and that prints to stdout.
    set_on_retry_hooks([LoggingOnRetryHook])
    for chatty in ("botocore", "httpx2"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
