"""``python -m headway.web``: serves one stage's producer. Exit codes: 0 ended well, 1 not, 3 configuration."""

import logging
import os
import sys
from types import FrameType

import uvicorn

from headway.contract import ContractError, DatabaseSecret, WebEnv, WebSecret
from headway.web.app import create_app
from headway.web.service import Service

#: A load balancer that finds a kept connection closed answers 502, so the server keeps it longer than it does
#: ("Troubleshoot your Application Load Balancers", HTTP 502: the target closed the connection).
_KEPT_LONGER_S = 5
#: What is left of the stop timeout for the process itself, once the last request has ended.
_GOODBYE_S = 5


class Server(uvicorn.Server):
    """A server whose endless answers end by themselves when it is told to stop."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Let the event streams end, whose clients come back to another task, and then stop; at once if asked twice."""
        self._service.stopping.set()
        self.force_exit = self.should_exit
        # Uvicorn's own handler would raise the signal again at the end, and the exit code would tell of a crash.
        self.should_exit = True


def main() -> int:
    """Serve until a signal ends it."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    # What it finds its credentials in is no news.
    logging.getLogger("botocore").setLevel(logging.WARNING)
    try:
        env = WebEnv.from_env(os.environ)
        service = Service(env, DatabaseSecret.from_env(os.environ), WebSecret.from_env(os.environ))
        host, port = _address(env)
    except ContractError as error:
        sys.stderr.write(f"headway.web: {error}\n")
        return 3
    config = uvicorn.Config(
        create_app(service),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=env.idle_timeout_s + _KEPT_LONGER_S,
        timeout_graceful_shutdown=max(1, env.stop_timeout_s - _GOODBYE_S),
    )
    server = Server(config, service)
    server.run()
    return 0 if server.started else 1


def _address(env: WebEnv) -> tuple[str, int]:
    host, _, port = env.bind.rpartition(":")
    if env.bind and not (host and port.isdigit()):
        raise ContractError(f"HEADWAY_BIND must be host:port, got {env.bind!r}")
    # The container's every address: its security group decides who reaches it.
    return (host, int(port)) if env.bind else ("0.0.0.0", env.port)  # noqa: S104


if __name__ == "__main__":
    sys.exit(main())
