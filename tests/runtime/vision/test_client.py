"""The model's client against a server that speaks its API."""

import asyncio
import base64
import uuid

import pytest

from headway.clock import StageClock
from headway.vision.calls import Origin
from headway.vision.client import Answer, CallError, ModelClient, RateLimitedError
from tests.runtime.support.model import ModelServer

_ORIGIN = Origin(job_id=uuid.uuid4(), step_id=uuid.uuid4(), attempt=2)


def _ask(url: str, *, timeout_s: float = 10.0, speed: float = 1.0) -> Answer:
    async def ask() -> Answer:
        client = ModelClient(
            base_url=f"{url}/v1", api_key="k", model="m", timeout_s=timeout_s, clock=StageClock(speed), worker="w"
        )
        try:
            return await client.ask("Count the bars", b"png", _ORIGIN)
        finally:
            await client.close()

    return asyncio.run(ask())


def test_a_question_carries_the_image_and_its_origin(model: ModelServer) -> None:
    """The image as a data URL, the origin as metadata, for the server's log."""
    assert _ask(model.url) == Answer(text='{"count": 3}', input_tokens=1_000, output_tokens=10)
    (question,) = model.asked
    text, image = question["messages"][0]["content"]
    assert text == {"type": "text", "text": "Count the bars"}
    assert image["image_url"]["url"] == "data:image/png;base64," + base64.b64encode(b"png").decode()
    origin = {"job": str(_ORIGIN.job_id), "step": str(_ORIGIN.step_id), "attempt": "2"}
    assert question["metadata"] == {**origin, "worker": "w"}


def test_a_rate_limit_carries_the_servers_word(model: ModelServer) -> None:
    """And it is not retried behind our back."""
    model.refusals.append((429, {"retry_after": "7"}))
    with pytest.raises(RateLimitedError) as caught:
        _ask(model.url)
    assert caught.value.retry_after == "7"
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("status", "outcome", "final"),
    [(500, "unavailable", False), (503, "unavailable", False), (400, "refused", True), (401, "refused", True)],
)
def test_an_error_is_final_or_passing(model: ModelServer, status: int, outcome: str, final: bool) -> None:
    """A server that fails may recover; a request that is wrong stays wrong."""
    model.refusals.append((status, {}))
    with pytest.raises(CallError) as caught:
        _ask(model.url)
    assert (caught.value.outcome, caught.value.final) == (outcome, final)
    assert "\n" not in str(caught.value)
    assert len(model.asked) == 1


def test_a_model_that_never_answers_times_out(model: ModelServer) -> None:
    """100 stage seconds at 100 times the speed are one."""
    model.gate.clear()
    with pytest.raises(CallError) as caught:
        _ask(model.url, timeout_s=100.0, speed=100.0)
    assert caught.value.outcome == "timed_out"


def test_a_server_that_is_gone_is_unavailable() -> None:
    """One line, with the cause."""
    server = ModelServer()
    server.server_close()
    with pytest.raises(CallError) as caught:
        _ask(server.url)
    assert caught.value.outcome == "unavailable"
    assert "\n" not in str(caught.value)
