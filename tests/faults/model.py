"""The local stage's model server with weather: python -m tests.faults.model PORT CONFIG_JSON.

POST /storm?for_s=3 makes it refuse half of all questions for so long, with every kind of Retry-After.
"""

import json
import random
import sys
import time

import uvicorn
from starlette.datastructures import QueryParams
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from headway_ops.local.model.server import ModelConfig, create_app

_SHARE = 0.5
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


def main() -> None:
    """Serve on the loopback port until the process is ended."""
    config = ModelConfig(**json.loads(sys.argv[2]))
    app = Weather(create_app(config), config.seed)
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", timeout_graceful_shutdown=1)


if __name__ == "__main__":
    main()
