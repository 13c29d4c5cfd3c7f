"""A real web service on a loopback port, over one test's stage."""

import contextlib
import dataclasses
import secrets
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import uvicorn

from headway.contract import WebEnv, WebSecret
from headway.web.app import create_app
from headway.web.service import Service
from headway_ops.local.ports import free_port
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until

TOKEN = secrets.token_urlsafe(32)


def web_env(stage: Stage, **values: Any) -> WebEnv:
    """Return a web service's environment over the stage, short in every duration."""
    own: dict[str, Any] = {
        "port": 8080,
        "https": False,
        "max_upload_bytes": 2_000_000,
        "max_body_bytes": 10_000,
        "max_requests": 50,
        "idle_timeout_s": 60,
        "keepalive_s": 15,
        "watch_every_s": 0.05,
        "session_min": 60,
        "stop_timeout_s": 30,
    }
    return WebEnv(**{**dataclasses.asdict(stage.producer_env()), **own, **values})


class Web:
    """A running web service; ``api`` is a client that shows its token, ``stranger`` one that shows nothing."""

    def __init__(self, url: str, service: Service) -> None:
        self.url, self.service = url, service
        self._clients: list[httpx2.Client] = []
        self.api = self._client(Authorization=f"Bearer {TOKEN}")
        self.stranger = self._client()

    def _client(self, **headers: str) -> httpx2.Client:
        self._clients.append(httpx2.Client(base_url=self.url, headers=headers, timeout=30))
        return self._clients[-1]

    def person(self) -> httpx2.Client:
        """Return a browser's client that has signed in, and sends what a browser sends of its own accord."""
        browser = self._client(Origin=self.url)
        assert browser.post("/session", data={"token": TOKEN}).status_code == 303
        return browser

    def close(self) -> None:
        """Close the clients' connections."""
        for client in self._clients:
            client.close()


@contextlib.contextmanager
def web_service(stage: Stage, **values: Any) -> Iterator[Web]:
    """Serve the stage until the block ends."""
    service = Service(web_env(stage, **values), stage.secret, WebSecret(token=TOKEN))
    port = free_port()
    config = uvicorn.Config(
        create_app(service), host="127.0.0.1", port=port, log_config=None, timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started or not thread.is_alive(), what="web service")
    web = Web(f"http://127.0.0.1:{port}", service)
    try:
        yield web
    finally:
        web.close()
        service.stopping.set()
        server.should_exit = True
        thread.join()
