"""The endpoint that ECS_AGENT_URI names: task protection, asked for by the task itself.

Paths and answers: "Amazon ECS task scale-in protection endpoint" in the ECS developer guide, and amazon-ecs-agent's
ecs-agent/tmds/handlers/taskprotection/v1.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from headway_ops.local.emulator.conductor import Conductor
from headway_ops.local.emulator.config import EmulatorConfig
from headway_ops.local.emulator.services import agent_answer

_FIELDS = {"ProtectionEnabled", "ExpiresInMinutes"}


def serve_agent(config: EmulatorConfig, conductor: Conductor) -> None:
    """Serve on the configured port from a thread of its own."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            arn = conductor.arn_of(self._task())
            self._answer(*(agent_answer(conductor, arn, None) if arn else _error(404, self._task(), "no such task")))

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            arn = conductor.arn_of(self._task())
            if arn is None:
                self._answer(*_error(404, self._task(), "no such task"))
                return
            request = _request(body)
            if request is None:
                self._answer(
                    *_error(400, arn, "ProtectionEnabled is required; no field but ExpiresInMinutes beside it")
                )
                return
            refusal = conductor.protect(arn, on=request["ProtectionEnabled"], minutes=request.get("ExpiresInMinutes"))
            self._answer(*agent_answer(conductor, arn, refusal))

        def _task(self) -> str:
            parts = self.path.split("/")
            wanted = parts[:2] == ["", "api"] and parts[3:] == ["task-protection", "v1", "state"]
            return parts[2] if wanted else ""

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Protection is in the stage's events; a line a request would only hide the emulator's own."""

    server = ThreadingHTTPServer(("127.0.0.1", config.agent_port), Handler)
    threading.Thread(target=server.serve_forever, name="ecs-agent", daemon=True).start()


def _request(body: bytes) -> dict[str, Any] | None:
    try:
        request = json.loads(body)
    except ValueError:
        return None
    valid = isinstance(request, dict) and set(request) <= _FIELDS and isinstance(request.get("ProtectionEnabled"), bool)
    return request if valid else None


def _error(status: int, arn: str, message: str) -> tuple[int, bytes]:
    code = {400: "InvalidParameterException", 404: "ResourceNotFoundException"}[status]
    return status, json.dumps({"requestID": arn, "error": {"Arn": arn, "Code": code, "Message": message}}).encode()
