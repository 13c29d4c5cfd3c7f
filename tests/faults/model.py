"""The local stage's model server with weather: python -m tests.faults.model PORT CONFIG_JSON.

POST /storm?for_s=3 makes it refuse half of all questions for so long, with every kind of Retry-After.
"""

import contextlib
import json
import os
import random
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import uvicorn
from starlette.datastructures import QueryParams
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from headway_ops.local.model.server import ModelConfig, create_app
from headway_ops.local.ports import answers, free_port
from headway_ops.local.processes import Ledger, spawn, stop
from headway_ops.local.project import PROJECT
from tests.faults.ledgers import Asked
from tests.runtime.support.waiting import until

_SHARE = 0.5
_ANSWER_WITHIN_S = 10
_RETRY_AFTER = ("0", "5", "soon", "Thu, 01 Jan 1970 00:00:00 GMT", "")


class Weather:
    """Stands before the model, and refuses questions while a storm lasts."""

    def __init__(self, app: ASGIApp, seed: int) -> None:
        self._app, self._draw, self._until = app, random.Random(seed), 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and scope["path"] == "/storm":
            self._until = time.monotonic() + float(QueryParams(scope["query_string"])["for_s"])
            await Response(status_code=204)(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] == "POST" and self._refuses():
            headers = {"Retry-After": self._draw.choice(_RETRY_AFTER)}
            await JSONResponse({"error": {"message": "a storm"}}, 429, headers)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refuses(self) -> bool:
        return time.monotonic() < self._until and self._draw.random() < _SHARE


class Model:
    """The server as a process, and its ledger."""

    def __init__(self, config: ModelConfig, directory: Path) -> None:
        self._config, self._directory, self._port = config, directory, free_port()
        self.url = f"http://127.0.0.1:{self._port}"

    @contextlib.contextmanager
    def serving(self) -> Iterator["Model"]:
        """Run the process."""
        process = spawn(
            [sys.executable, "-m", "tests.faults.model", str(self._port), json.dumps(asdict(self._config))],
            env={"PATH": os.defpath, "LANG": "C.UTF-8"},
            log=self._directory / "model.log",
            ledger=Ledger(self._directory / "processes"),
            cwd=PROJECT,
        )
        try:
            until(lambda: answers(self._port), what="model server")
            yield self
        finally:
            stop(process)

    def storm(self, lasts_s: float) -> None:
        """Let it refuse for so many seconds."""
        with urllib.request.urlopen(f"{self.url}/storm?for_s={lasts_s}", data=b"", timeout=_ANSWER_WITHIN_S):
            pass

    def asked(self) -> list[Asked]:
        """Return what it was asked, as its own log has it."""
        lines = Path(self._config.log).read_text(encoding="utf-8").splitlines()
        return [Asked.of(json.loads(line)) for line in lines]

    def in_flight(self) -> list[int]:
        """Return the calls in flight, one entry for each change that its sampling saw."""
        with urllib.request.urlopen(f"{self.url}/usage", timeout=_ANSWER_WITHIN_S) as answer:
            return [number for _, number in json.load(answer)["history"]]


def main() -> None:
    """Serve on the loopback port until the process is ended."""
    config = ModelConfig(**json.loads(sys.argv[2]))
    app = Weather(create_app(config), config.seed)
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", timeout_graceful_shutdown=1)


if __name__ == "__main__":
    main()
