"""The load balancer of an emulated account: whoever answers is reached, turn by turn, and nobody else."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from uuid import uuid4

import pytest

from headway_ops.local.aws import client
from headway_ops.local.emulator.config import EmulatorConfig
from tests.runtime.support.waiting import until

#: Answers every request with its own task's id, at the address that it is told.
PROGRAM = """
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = os.environ["HOSTNAME"].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
host, _, port = os.environ["HEADWAY_BIND"].rpartition(":")
http.server.HTTPServer((host, int(port)), Handler).serve_forever()
"""


class Listening:
    """A service of tasks that listen."""

    def __init__(self, account: EmulatorConfig) -> None:
        self._url = f"http://127.0.0.1:{account.web_port}/"
        self._ecs, self._name = client("ecs", account), f"listening-{uuid4().hex[:8]}"
        container = {
            "name": "web",
            "image": "none",
            "command": ["python", "-c", PROGRAM],
            "portMappings": [{"containerPort": 8_080}],
        }
        definition = self._ecs.register_task_definition(family=self._name, containerDefinitions=[container])
        self._ecs.create_cluster(clusterName=self._name)
        self._ecs.create_service(
            cluster=self._name,
            serviceName=self._name,
            taskDefinition=definition["taskDefinition"]["taskDefinitionArn"],
            desiredCount=0,
            launchType="FARGATE",
        )

    def scale(self, desired: int) -> None:
        """Set the desired count."""
        self._ecs.update_service(cluster=self._name, service=self._name, desiredCount=desired)

    @property
    def answered_by(self) -> str:
        """The id of the task that answered a request, or the refusal's status."""
        try:
            with urllib.request.urlopen(self._url, timeout=10) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError as refusal:
            return str(refusal.code)


@pytest.fixture
def listening(account: EmulatorConfig) -> Iterator[Listening]:
    """A service that is scaled to nothing at the end."""
    service = Listening(account)
    yield service
    service.scale(0)
    until(lambda: service.answered_by == "503", what="the last task's end")


def test_requests_go_to_every_task_that_answers(listening: Listening) -> None:
    """None: 503. Two: both of them, turn by turn. One again: that one alone, and no request is lost to the other."""
    assert listening.answered_by == "503"
    listening.scale(2)
    until(lambda: len({listening.answered_by for _ in range(4)} - {"503"}) == 2, what="both tasks")
    listening.scale(1)
    until(lambda: len({listening.answered_by for _ in range(4)}) == 1, what="one task alone")
    assert listening.answered_by != "503"
