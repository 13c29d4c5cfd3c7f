"""Waits for a call's answer as long as its step is ours and nobody wants the call back."""

import concurrent.futures
import logging
import time
from typing import TypeVar

import sqlalchemy as sa

from headway.jobs import Claim, renew_claim
from headway.vision.gate import Running
from headway.worker.resources import Resources
from headway.worker.stopping import StopAskedError

logger = logging.getLogger(__name__)

#: The job store does not answer, or is failing over.
AWAY = (sa.exc.OperationalError, sa.exc.InterfaceError)
#: Wall seconds between two looks at what could end the wait.
_GLANCE_S = 0.2

T = TypeVar("T")


class ClaimLostError(Exception):
    """Somebody else holds the step now, or its job has ended."""


class TakenBackError(Exception):
    """The call is over its time limit."""


def while_held(work: Running[T], claim: Claim, resources: Resources) -> T:
    """Return the work's result, or raise what it raised; the claim is renewed at every beat.

    Raises:
        ClaimLostError: the job has ended, or the claim could not be renewed.
        TakenBackError: the call is over its time limit.
        StopAskedError: the worker is stopping.
    """
    began = renewed = time.monotonic()
    with resources.endings.watching(claim.job_id, work.cancel):
        while not work.wait(_GLANCE_S):
            now = time.monotonic()
            if resources.stop.asked:
                raise StopAskedError
            if now - began >= resources.soft_limit_s:
                raise TakenBackError("interrupted: over its time limit")
            if now - renewed >= resources.beat_s:
                renewed = now
                _renew(claim, resources)
    try:
        return work.result()
    except concurrent.futures.CancelledError:
        raise ClaimLostError from None


def _renew(claim: Claim, resources: Resources) -> None:
    try:
        with resources.stop.breaking():
            kept = renew_claim(resources.engine, claim, lease_s=resources.lease_s)
    except AWAY as error:
        # The call is paid for: it goes on, and the guarded write decides.
        logger.warning("step %s: claim not renewed: %s", claim.step_id, error.orig)
    else:
        if not kept:
            raise ClaimLostError
