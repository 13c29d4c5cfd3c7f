"""One step's question, until it is answered or given up: through the gate, patient with 429s, every call accounted for.

The gate is left before each wait, so a caller that was told to slow down holds nobody else up.
"""

import asyncio
import random
from collections.abc import Callable, Mapping
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


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Asks a model about images.

    ``patience_s``: stage seconds that one question may spend on being refused. ``paid`` is told of each call as it
    ends. ``draw`` returns a number in [0, 1), ``now`` the time for Retry-After's dates.
    """

    model: Model
    gate: Gate
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
        answer, latency_s, rate_limited = await self._answer(check, png, origin, paid)
        outcome = "unreadable"
        try:
            result = check.read(answer.text)
            outcome = "ok"
        finally:
            tokens = {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens}
            paid(
                Call(
                    outcome=outcome,
                    latency_s=latency_s,
                    cost_usd=self.price.of(**tokens),
                    rate_limited=rate_limited,
                    **tokens,
                )
            )
        return result

    async def _answer(
        self, check: Check, png: bytes, origin: Origin, paid: Callable[[Call], None]
    ) -> tuple[Answer, float, int]:
        began = self.clock.monotonic()
        failures = rate_limited = 0
        while True:
            try:
                async with self.gate.slot():
                    sent = self.clock.monotonic()
                    answer = await self._sent(check.prompt, png, origin, paid, rate_limited)
                return answer, self.clock.monotonic() - sent, rate_limited
            except CallError as error:
                now = self.clock.monotonic()
                failures += 1
                rate_limited += isinstance(error, RateLimitedError)
                wait_s = self._wait_s(error, failures, now - began)
                if error.served or wait_s is None:
                    paid(Call(outcome=error.outcome, latency_s=now - sent, rate_limited=rate_limited))
                if wait_s is None:
                    raise
            await self.clock.sleep(wait_s)

    async def _sent(
        self, prompt: str, png: bytes, origin: Origin, paid: Callable[[Call], None], rate_limited: int
    ) -> Answer:
        sent = self.clock.monotonic()
        try:
            return await self.model.ask(prompt, png, origin)
        except asyncio.CancelledError:
            # Nobody waits for the answer any more; the server may bill it all the same.
            paid(Call(outcome="abandoned", latency_s=self.clock.monotonic() - sent, rate_limited=rate_limited))
            raise

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
