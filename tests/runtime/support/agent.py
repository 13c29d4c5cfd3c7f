"""An ECS agent's task protection endpoint: the answers of aws/amazon-ecs-agent, tmds/handlers/taskprotection/v1."""

import json
import threading
import time
from typing import Any

from tests.runtime.support.servers import Handler, Server

TASK = "arn:aws:ecs:us-east-1:000000000000:task/headway/0123456789abcdef0123456789abcdef"
GRANTED = {"ProtectionEnabled": True, "ExpirationDate": "2030-01-01T00:00:00Z", "TaskArn": TASK}
RELEASED = {"ProtectionEnabled": False, "ExpirationDate": None, "TaskArn": TASK}
REFUSED = {"Arn": TASK, "Reason": "DEPLOYMENT_BLOCKED", "Detail": None}


def exception(code: str) -> dict[str, Any]:
    """Return the answer to a request that ECS itself did not serve."""
    return {"requestID": "r", "error": {"Arn": TASK, "Code": code, "Message": "m"}}


class AgentServer(Server):
    """Grants what it is asked for, or refuses as data while ``refusing``; keeps what it was asked.

    Tasks are told apart by what stands before the endpoint's own path.
    """

    def __init__(self) -> None:
        super().__init__(0, _AgentHandler)
        self.refusing = False
        #: (status, document or bytes) for the next requests, first in first out.
        self.answers: list[tuple[int, Any]] = []
        #: Cleared, it answers nothing.
        self.answering = threading.Event()
        self.answering.set()
        #: (path, body), in order.
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.protected = False
        #: (wall time, task, minutes), in order: what was granted, 0 minutes for a release.
        self.granted: list[tuple[float, str, int]] = []


class _AgentHandler(Handler):
    server: AgentServer

    def do_PUT(self) -> None:  # noqa: N802  # http.server's name
        wanted = self.read_json()
        self.server.asked.append((self.path, wanted))
        self.server.answering.wait(30)
        if self.server.answers:
            status, document = self.server.answers.pop(0)
            self.answer_bytes(status, document if isinstance(document, bytes) else json.dumps(document).encode())
            return
        if wanted["ProtectionEnabled"] and self.server.refusing:
            self.answer(200, {"failure": REFUSED})
            return
        self.server.protected = wanted["ProtectionEnabled"]
        task = self.path.removesuffix("/task-protection/v1/state").strip("/")
        self.server.granted.append((time.time(), task, wanted.get("ExpiresInMinutes", 0)))
        self.answer(200, {"protection": GRANTED if self.server.protected else RELEASED})
