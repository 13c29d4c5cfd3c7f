"""Makes one step's model call: claimed before, kept by a beat while it runs, finished by a guarded write after."""

import asyncio
import logging
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from uuid import UUID

import botocore.exceptions
import stamina

from headway.jobs import Claim, Refusal, claim_step, finish_step, release_step
from headway.vision.calls import Call, Origin
from headway.vision.checks import Check, UnreadableError
from headway.vision.client import CallError
from headway.worker.holding import AWAY, ClaimLostError, TakenBackError, while_held
from headway.worker.resources import Resources
from headway.worker.stopping import StopAskedError
from headway.worker.verdicts import BuryError, HandBackError

logger = logging.getLogger(__name__)

#: A step whose attempts bring nothing fails at this one, before the redrive policy takes its message unseen.
MAX_ATTEMPTS = 4
#: How often a message for a held step is looked at within one time limit. Max receives is at least 4 (stacks/rules/).
_LOOKS = 3
#: Stage seconds until a step that gave up is tried again.
_AGAIN_S = 60.0
#: Wall seconds for which a paid answer is kept while the job store is away.
_PERSIST_S = 300.0

#: Faults that another attempt may not meet. A MemoryError that left a task would end the whole worker (Celery's
#: Request.on_failure raises it in the main process).
_PASSING = (
    MemoryError,
    botocore.exceptions.BotoCoreError,
    botocore.exceptions.ClientError,
)

T = TypeVar("T")


class _BrokenOffError(Exception):
    """A stop was asked for in the middle of a write."""


def run_step(step_id: UUID, resources: Resources) -> None:
    """Claim the step, ask the model, and write its result.

    Raises:
        BuryError: there is no such step.
        HandBackError: somebody holds the step, or this attempt brought nothing.
    """
    try:
        claim = _claimed(step_id, resources)
    except StopAskedError as asked:
        raise HandBackError(str(asked), 0) from None
    if isinstance(claim, Refusal):
        _refused(claim, resources)
        return
    paid: list[Call] = []
    try:
        result = _answer(claim, resources, paid)
    except ClaimLostError:
        logger.info("step %s: claim lost, its answer is discarded", step_id)
        _persist(lambda: finish_step(resources.engine, claim, result=None, reason="claim lost", paid=paid), resources)
    except (CallError, UnreadableError) as error:
        _gave_up(claim, resources, paid, str(error), final=isinstance(error, UnreadableError) or error.final)
    except (TakenBackError, StopAskedError) as error:
        _gave_up(claim, resources, paid, str(error), again_s=0.0)
    except _PASSING as error:
        _gave_up(claim, resources, paid, repr(error))
    else:
        if not _persist(lambda: finish_step(resources.engine, claim, result=result, paid=paid), resources):
            logger.info("step %s: its answer came too late and is discarded", step_id)


def _claimed(step_id: UUID, resources: Resources) -> Claim | Refusal:
    if resources.stop.asked:
        raise StopAskedError
    with resources.stop.breaking():
        return claim_step(resources.engine, step_id, lease_s=resources.lease_s)


def _refused(refusal: Refusal, resources: Resources) -> None:
    if refusal.unknown:
        raise BuryError(refusal.reason)
    if refusal.held_s:
        # A second message for a step that somebody works on: it looks again a few times while the longest call lasts,
        # fewer than the redrive policy allows, so that it is not counted to death beside a call that is alive.
        look_again_s = resources.clock.wall(resources.env.time_limit_s / _LOOKS)
        raise HandBackError(refusal.reason, math.ceil(max(refusal.held_s, look_again_s)))
    logger.info("%s; dropped", refusal.reason)


def _answer(claim: Claim, resources: Resources, paid: list[Call]) -> Mapping[str, Any]:
    check: Check | None = resources.checks.get(claim.check_name)
    if check is None:
        raise UnreadableError(f"check {claim.check_name!r} is not installed")
    origin = Origin(job_id=claim.job_id, step_id=claim.step_id, attempt=claim.attempt)

    def account(call: Call) -> None:
        paid.append(call)
        resources.log_call(call, origin)

    async def answered() -> Mapping[str, Any]:
        png = await asyncio.to_thread(resources.read, claim.image_key)
        return await resources.asker.ask(check, png, origin, account)

    answer = resources.loop.submit(answered())
    try:
        return while_held(answer, claim, resources)
    finally:
        answer.abandon()


def _gave_up(
    claim: Claim,
    resources: Resources,
    paid: list[Call],
    reason: str,
    *,
    final: bool = False,
    again_s: float = _AGAIN_S,
) -> None:
    if final or claim.attempt >= MAX_ATTEMPTS:
        reason = reason if final else f"gave up after {claim.attempt} attempts: {reason}"
        logger.warning("step %s failed: %s", claim.step_id, reason)
        _persist(lambda: finish_step(resources.engine, claim, result=None, reason=reason, paid=paid), resources)
        return
    _persist(lambda: release_step(resources.engine, claim, reason=reason, paid=paid), resources)
    raise HandBackError(reason, math.ceil(resources.clock.wall(again_s)))


def _persist(write: Callable[[], T], resources: Resources) -> T:
    """Write what was paid for, again and again while the job store is away, and once more where a stop broke it off."""
    for attempt in stamina.retry_context(on=(*AWAY, _BrokenOffError), attempts=None, timeout=_PERSIST_S):
        with attempt:
            try:
                with resources.stop.breaking():
                    return write()
            except StopAskedError:
                raise _BrokenOffError from None
    raise AssertionError("retry_context returns or raises")
