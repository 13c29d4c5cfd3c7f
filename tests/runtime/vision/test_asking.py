"""One question until it is answered or given up, on a clock that only sleeping moves."""

import asyncio
import dataclasses
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from headway.clock import StageClock
from headway.vision.asking import Asker, CrowdedError
from headway.vision.calls import Call, Origin, Price
from headway.vision.checks import BARS, UnreadableError
from headway.vision.client import Answer, CallError, RateLimitedError, RefusedError, TimedOutError, UnavailableError
from headway.vision.gate import Gate

_ORIGIN = Origin(job_id=uuid.uuid4(), step_id=uuid.uuid4(), attempt=1)
_GOOD = Answer(text='{"count": 3}', input_tokens=1_000_000, output_tokens=1_000_000)
_BAD = Answer(text="three", input_tokens=1_000_000, output_tokens=0)


class _Clock(StageClock):
    """Time stands still but for sleeping and working."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.slept: list[float] = []
        self.on_sleep: Callable[[], object] = lambda: None

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, stage_s: float) -> None:
        self.on_sleep()
        self.slept.append(stage_s)
        self.now += stage_s
        await asyncio.sleep(0)


class _Model:
    """Answers from a script; each answer takes 10 s."""

    def __init__(self, clock: _Clock, script: Sequence[Answer | CallError]) -> None:
        self._clock, self._script = clock, list(script)

    async def ask(self, prompt: str, png: bytes, origin: Origin) -> Answer:
        answer = self._script.pop(0)
        if isinstance(answer, CallError):
            raise answer
        self._clock.now += 10.0
        return answer


class _Quota:
    """A quota with room for all but ``others``, for as long as ``crowded`` is false."""

    def __init__(self) -> None:
        self.others, self.inside, self.crowded = 6, 0, False
        self.within_s: list[float] = []

    @asynccontextmanager
    async def place(self, *, within_s: float) -> AsyncIterator[int]:
        self.within_s.append(within_s)
        if self.crowded:
            raise CrowdedError("no place")
        self.inside += 1
        try:
            yield self.others + self.inside
        finally:
            self.inside -= 1


class _Case:
    """An asker over a script, and what it did."""

    def __init__(self, *script: Answer | CallError, most: int = 1) -> None:
        self.clock, self.gate, self.quota, self.paid = _Clock(), Gate(most), _Quota(), list[Call]()
        self.asker = Asker(
            model=_Model(self.clock, script),
            gate=self.gate,
            quota=self.quota,
            clock=self.clock,
            price=Price(input_usd_per_mtok=0.25, output_usd_per_mtok=2.0),
            patience_s=100.0,
            draw=lambda: 0.5,
            now=lambda: datetime(2030, 1, 1, tzinfo=UTC),
        )

    def ask(self) -> object:
        """Ask, and return the result."""
        return asyncio.run(self.asker.ask(BARS, b"png", _ORIGIN, self.paid.append))


def test_an_answer_is_read_and_paid_for() -> None:
    """A million tokens each way at 0.25 and 2 dollars."""
    case = _Case(_GOOD)
    assert case.ask() == {"count": 3}
    assert case.paid == [
        Call(
            outcome="ok",
            latency_s=10.0,
            input_tokens=1_000_000,
            output_tokens=1_000_000,
            cost_usd=2.25,
            in_flight_at_start=7,
        )
    ]


def test_rate_limits_are_waited_out_and_counted() -> None:
    """As long as the server says; without a word, half of the first and second jitter's bound (draw 0.5)."""
    case = _Case(RateLimitedError("slow down", "20"), RateLimitedError("", None), RateLimitedError("", "0"), _GOOD)
    assert case.ask() == {"count": 3}
    assert case.clock.slept == [20.0, 1.0, 0.0]
    assert [(call.outcome, call.rate_limited, call.latency_s) for call in case.paid] == [("ok", 3, 10.0)]


def test_patience_ends_in_the_last_error() -> None:
    """100 s of patience: waits of 40 and 40, and the third is not begun. No call was served, one line says so."""
    case = _Case(*[RateLimitedError("slow down", "40")] * 3)
    with pytest.raises(RateLimitedError):
        case.ask()
    assert case.clock.slept == [40.0, 40.0]
    assert [(call.outcome, call.rate_limited, call.cost_usd) for call in case.paid] == [("rate_limited", 3, 0.0)]


def test_a_failing_server_is_tried_again_and_each_call_is_counted() -> None:
    """Unlike a 429, a request that failed may have been billed."""
    case = _Case(UnavailableError("503"), _GOOD)
    assert case.ask() == {"count": 3}
    assert [call.outcome for call in case.paid] == ["unavailable", "ok"]


@pytest.mark.parametrize("error", [RefusedError("400"), TimedOutError("35 min")])
def test_what_waiting_does_not_mend_is_not_waited_for(error: CallError) -> None:
    """A refusal is final, and a model that took its whole time has no second one."""
    case = _Case(error)
    with pytest.raises(type(error)):
        case.ask()
    assert case.clock.slept == []
    assert [call.outcome for call in case.paid] == [error.outcome]


def test_an_unreadable_answer_is_asked_for_once_more() -> None:
    """Both were paid for."""
    case = _Case(_BAD, _GOOD)
    assert case.ask() == {"count": 3}
    assert [(call.outcome, call.cost_usd) for call in case.paid] == [("unreadable", 0.25), ("ok", 2.25)]


def test_a_second_unreadable_answer_is_an_error() -> None:
    """With its reason."""
    case = _Case(_BAD, _BAD)
    with pytest.raises(UnreadableError, match="not JSON"):
        case.ask()
    assert [call.outcome for call in case.paid] == ["unreadable"] * 2


def test_nobody_holds_the_gate_while_sleeping() -> None:
    """With one place, a caller that was told to wait lets the other one through."""
    case = _Case(RateLimitedError("slow down", "50"), _GOOD, _GOOD)
    order: list[str] = []

    async def ask(name: str) -> None:
        await case.asker.ask(BARS, b"png", _ORIGIN, case.paid.append)
        order.append(name)

    async def both() -> None:
        await asyncio.gather(ask("limited"), ask("other"))

    asyncio.run(both())
    assert order == ["other", "limited"]


def test_a_canceled_call_is_accounted_for() -> None:
    """The server may bill what nobody waits for any more."""
    case = _Case()

    class _Forever:
        async def ask(self, prompt: str, png: bytes, origin: Origin) -> Answer:
            case.clock.now += 5.0
            await asyncio.Event().wait()
            raise AssertionError

    asker = dataclasses.replace(case.asker, model=_Forever())

    async def cancel() -> None:
        asked = asyncio.create_task(asker.ask(BARS, b"png", _ORIGIN, case.paid.append))
        await asyncio.sleep(0.01)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

    asyncio.run(cancel())
    assert [(call.outcome, call.latency_s) for call in case.paid] == [("abandoned", 5.0)]
    assert case.quota.inside == 0


def test_a_refused_call_holds_no_place_while_it_waits_and_has_less_patience_left() -> None:
    """The place is asked for again, within what is left of 100 s after a wait of 30."""
    case = _Case(RateLimitedError("slow down", "30"), _GOOD)
    held: list[int] = []
    case.clock.on_sleep = lambda: held.append(case.quota.inside)
    assert case.ask() == {"count": 3}
    assert held == [0]
    assert case.quota.within_s == [100.0, 70.0]


def test_a_question_without_a_place_was_never_sent() -> None:
    """It is given up with nothing to account for, and may be asked again later."""
    case = _Case(_GOOD)
    case.quota.crowded = True
    with pytest.raises(CrowdedError) as crowded:
        case.ask()
    assert not crowded.value.final
    assert case.paid == []


def test_a_429_halves_the_process_and_answers_bring_it_back() -> None:
    """Eight places: four after the refusal, five after the answer to it."""
    case = _Case(RateLimitedError("slow down", "1"), _GOOD, most=8)
    limits: list[int] = []
    case.clock.on_sleep = lambda: limits.append(case.gate.pace.limit)
    case.ask()
    assert [*limits, case.gate.pace.limit] == [4, 5]
