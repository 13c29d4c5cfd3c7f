"""The model's stand-in, over real HTTP."""

import base64
import dataclasses
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from hypothesis import given, settings
from hypothesis import strategies as st

from headway_ops.demo.drawings import draw
from headway_ops.local.model.reading import count
from headway_ops.local.model.server import ModelConfig, create_app
from headway_ops.local.ports import free_port


@pytest.fixture
def config(tmp_path: Path) -> ModelConfig:
    """A model with two calls in flight and calls of half a second."""
    return ModelConfig(
        quota_calls=2, speed=1, call_min_s=0.5, call_max_s=0.5, seed=1, log=str(tmp_path / "calls.jsonl")
    )


@pytest.fixture
def model(config: ModelConfig) -> Iterator[str]:
    """The model's address."""
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(create_app(config), host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < deadline
        thread.join(0.01)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)


def ask(model: str, image: bytes, question: str) -> tuple[int, dict[str, Any], str | None]:
    """Ask as an OpenAI client does; return the status, the body and the Retry-After header."""
    url = f"data:image/png;base64,{base64.b64encode(image).decode()}"
    content = [{"type": "text", "text": question}, {"type": "image_url", "image_url": {"url": url}}]
    body = {"model": "m", "messages": [{"role": "user", "content": content}], "metadata": {"step": "s1"}}
    request = urllib.request.Request(
        f"{model}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.load(answer), None
    except urllib.error.HTTPError as error:
        return error.code, json.load(error), error.headers.get("Retry-After")


def test_it_answers_with_what_the_image_shows(model: str, config: ModelConfig) -> None:
    """The answer is the drawing's truth, and the call is in the log with the metadata it came with."""
    drawing = draw(7)
    status, body, _ = ask(model, drawing.data, "How many bars?")
    assert status == 200
    assert json.loads(body["choices"][0]["message"]["content"]) == {"count": sum(b.bars for b in drawing.blocks)}
    (line,) = Path(config.log).read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["outcome"] == "answered"
    assert json.loads(line)["step"] == "s1"


def test_a_call_over_the_quota_is_refused_with_a_time_to_wait(model: str, config: ModelConfig) -> None:
    """Of three calls at once two are answered, the third gets 429 and Retry-After; the peak is the quota."""
    data = draw(7).data
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda _: ask(model, data, "bars"), range(3)))
    assert sorted(status for status, _, _ in answers) == [200, 200, 429]
    assert [wait for status, _, wait in answers if status == 429] == ["5"]
    with urllib.request.urlopen(f"{model}/usage", timeout=5) as answer:
        usage = json.load(answer)
    assert (usage["peak_in_flight"], usage["answered"], usage["refused"]) == (config.quota_calls, 2, 1)
    assert usage["samples_over_quota"] == 0


@pytest.mark.parametrize(("image", "question"), [(b"no image", "bars"), (draw(1).data, "doors")])
def test_what_cannot_be_answered_is_an_invalid_request(model: str, image: bytes, question: str) -> None:
    """Bytes that are no image, and a question about neither bars nor openings, get 400."""
    assert ask(model, image, question)[0] == 400


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_every_drawing_is_read_as_it_was_drawn(seed: int) -> None:
    """Over any drawing: as many discs as bars, as many outlines as openings and frames together."""
    drawing = draw(seed)
    assert count(drawing.data, "bars") == sum(block.bars for block in drawing.blocks)
    assert count(drawing.data, "openings") == sum(block.openings for block in drawing.blocks) + len(drawing.blocks)


def test_the_configuration_survives_its_way_to_the_server(config: ModelConfig) -> None:
    """The server is started with its configuration as JSON."""
    assert ModelConfig(**json.loads(json.dumps(dataclasses.asdict(config)))) == config
