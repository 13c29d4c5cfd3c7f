"""The model's HTTP API: OpenAI-compatible chat completions with a quota on calls in flight."""

import asyncio
import base64
import contextlib
import json
import random
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from headway_ops.local.model.reading import count

_SAMPLE_EVERY_WALL_S = 0.05
_LOOK_EVERY_WALL_S = 0.2


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The model's limits; latencies in stage seconds, ``log`` gets one JSON object a call."""

    quota_calls: int
    speed: float
    call_min_s: float
    call_max_s: float
    seed: int
    log: str


@dataclass
class Usage:
    """Calls in flight, as sampled all the time the server runs."""

    quota: int
    in_flight: int = 0
    peak_in_flight: int = 0
    samples: int = 0
    samples_over_quota: int = 0
    refused: int = 0
    answered: int = 0
    history: list[tuple[float, int]] = field(default_factory=list)

    def sample(self, now: float) -> None:
        """Take one sample; the history keeps changes only."""
        self.samples += 1
        self.samples_over_quota += self.in_flight > self.quota
        if not self.history or self.history[-1][1] != self.in_flight:
            self.history.append((now, self.in_flight))


def create_app(config: ModelConfig) -> Starlette:
    """Return the server's application."""
    usage = Usage(quota=config.quota_calls)
    latencies = random.Random(config.seed)  # noqa: S311  # latencies, not secrets

    async def complete(request: Request) -> Response:
        body = await request.json()
        if usage.in_flight >= config.quota_calls:
            usage.refused += 1
            _log(config, body, outcome="refused", started=time.time())
            return _error(429, "rate_limit_exceeded", "too many calls in flight", {"Retry-After": "5"})
        usage.in_flight += 1
        usage.peak_in_flight = max(usage.peak_in_flight, usage.in_flight)
        started = time.time()
        try:
            latency = latencies.uniform(config.call_min_s, config.call_max_s) / config.speed
            if not await _last(request, latency):
                _log(config, body, outcome="abandoned", started=started)
                return Response(status_code=499)
            try:
                answer = count(*_asked(body))
            except (KeyError, IndexError, TypeError, ValueError) as error:
                return _error(400, "invalid_request_error", str(error))
            usage.answered += 1
            _log(config, body, outcome="answered", started=started)
            return JSONResponse(_completion(body, answer))
        finally:
            usage.in_flight -= 1

    async def show(request: Request) -> Response:
        return JSONResponse(asdict(usage))

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async def sample() -> None:
            while True:
                usage.sample(time.time())
                await asyncio.sleep(_SAMPLE_EVERY_WALL_S)

        sampling = asyncio.create_task(sample())
        yield
        sampling.cancel()

    routes = [
        Route("/v1/chat/completions", complete, methods=["POST"]),
        Route("/usage", show, methods=["GET"]),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


async def _last(request: Request, latency_wall_s: float) -> bool:
    """Wait out a call's latency; return False as soon as the caller has gone."""
    end = time.monotonic() + latency_wall_s
    while (left := end - time.monotonic()) > 0:
        await asyncio.sleep(min(left, _LOOK_EVERY_WALL_S))
        if await request.is_disconnected():
            return False
    return True


def _asked(body: dict[str, Any]) -> tuple[bytes, str]:
    """Return the image and the question of a chat completion request."""
    parts = [
        part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]
    ]
    url = next(part["image_url"]["url"] for part in parts if part["type"] == "image_url")
    question = " ".join(part["text"] for part in parts if part["type"] == "text")
    return base64.b64decode(url.partition("base64,")[2]), question


def _completion(body: dict[str, Any], answer: int) -> dict[str, Any]:
    text = json.dumps({"count": answer})
    tokens_in = len(json.dumps(body)) // 4
    return {
        "id": f"chatcmpl-{time.time_ns()}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body.get("model", ""),
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": tokens_in, "completion_tokens": len(text), "total_tokens": tokens_in + len(text)},
    }


def _error(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": {"type": code, "code": code, "message": message}}, status, headers)


def _log(config: ModelConfig, body: dict[str, Any], *, outcome: str, started: float) -> None:
    line = {"started": started, "ended": time.time(), "outcome": outcome, **body.get("metadata", {})}
    with Path(config.log).open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")
