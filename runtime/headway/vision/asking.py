"""One step's question, until it is answered or given up: through the gate, patient with 429s, every call accounted for.

Two gates, the process's own and the fleet's quota, are passed before each request. Both are left before each wait, so
a caller that was told to slow down holds nobody else up.
"""

import asyncio
import dataclasses
import random
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from headway.clock import StageClock
from headway.vision.calls import Call, Origin, Price
from headway.vision.checks import Check, UnreadableError
from headway.vision.client import Answer, CallError, RateLimitedError, TimedOutError
from headway.vision.gate import Gate
from headway.vision.retry import retry_after_s, wait_before_retry


class Model(Protocol):
    """Whatever answers a question about an image."""

    async def ask(self, prompt: str, png: bytes, origin: Origin) -> Answer:
        """Answer, or raise CallError."""


class CrowdedError(CallError):
    """The quota was used up for longer than the question could wait; nothing was sent."""


class Quota(Protocol):
    """The calls that the whole fleet may have in flight."""

    def place(self, *, within_s: float) -> AbstractAsyncContextManager[int]:
        """Wait for a place in the quota, and hold it; gives the fleet's calls in flight then, this one included.

        Raises:
            CrowdedError: there is none within so many stage seconds.
        """


@dataclass(frozen=True, kw_only=True)
class _Request:
    """A request on its way."""

    sent_at: float
    in_flight: int

    def over(self, outcome: str, now: float, rate_limited: int) -> Call:
        """Return what became of it."""
        return Call(
            outcome=outcome,
            latency_s=now - self.sent_at,
            rate_limited=rate_limited,
            in_flight_at_start=self.in_flight,
        )


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Asks a model about images.

    ``patience_s``: stage seconds that one question may spend on waiting for a place and on being refused. ``paid`` is
    told of each call as it ends. ``draw`` returns a number in [0, 1), ``now`` the time for Retry-After's dates.
    """

    model: Model
    gate: Gate
    quota: Quota
    clock: StageClock
    price: Price
    patience_s: float
    draw: Callable[[], float] = random.random
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def ask(self, check: Check, png: bytes, origin: Origin, paid: Callable[[Call], None]) -> Mapping[str, Any]:
        """Return the check's result. An unreadable answer is asked for once more.

        Raises:
            CallError: given up; ``final`` where another attempt would fail the same way.
            UnreadableError: twice.
        """
        try:
            return await self._once(check, png, origin, paid)
        except UnreadableError:
            return await self._once(check, png, origin, paid)

    async def _once(self, check: Check, png: bytes, origin: Origin, paid: Callable[[Call], None]) -> Mapping[str, Any]:
        answer, call = await self._answer(check, png, origin, paid)
        outcome = "unreadable"
        try:
            result = check.read(answer.text)
            outcome = "ok"
        finally:
            tokens = {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens}
            paid(dataclasses.replace(call, outcome=outcome, cost_usd=self.price.of(**tokens), **tokens))
        return result

    async def _answer(
        self, check: Check, png: bytes, origin: Origin, paid: Callable[[Call], None]
    ) -> tuple[Answer, Call]:
        began = self.clock.monotonic()
        failures = rate_limited = 0
        while True:
            try:
                async with self.gate.slot(), self.quota.place(within_s=self._left_s(began)) as in_flight:
                    request = _Request(sent_at=self.clock.monotonic(), in_flight=in_flight)
                    answer = await self._sent(check.prompt, png, origin, paid, request, rate_limited)
                    call = request.over("ok", self.clock.monotonic(), rate_limited)
                self.gate.answered()
                return answer, call
            except CrowdedError:
                raise
            except CallError as error:
                now = self.clock.monotonic()
                failures += 1
                if isinstance(error, RateLimitedError):
                    rate_limited += 1
                    self.gate.refused(sent_at=request.sent_at, now=now)
                wait_s = self._wait_s(error, failures, now - began)
                if error.served or wait_s is None:
                    paid(request.over(error.outcome, now, rate_limited))
                if wait_s is None:
                    raise
            await self.clock.sleep(wait_s)

    async def _sent(
        self,
        prompt: str,
        png: bytes,
        origin: Origin,
        paid: Callable[[Call], None],
        request: _Request,
        rate_limited: int,
    ) -> Answer:
        try:
            return await self.model.ask(prompt, png, origin)
        except asyncio.CancelledError:
            # Nobody waits for the answer any more; the server may bill it all the same.
            paid(request.over("abandoned", self.clock.monotonic(), rate_limited))
            raise

    def _left_s(self, began: float) -> float:
        return self.patience_s - (self.clock.monotonic() - began)

    def _wait_s(self, error: CallError, failures: int, elapsed_s: float) -> float | None:
        if error.final or isinstance(error, TimedOutError):
            return None
        header = error.retry_after if isinstance(error, RateLimitedError) else None
        return wait_before_retry(
            failures=failures,
            asked_s=retry_after_s(header, now=self.now()),
            elapsed_s=elapsed_s,
            patience_s=self.patience_s,
            draw=self.draw(),
        )
