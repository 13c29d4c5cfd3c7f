"""A deployment goes on where its task ended well, stops where it did not, and always gets an answer."""

import itertools
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from headway.oneshot import handler
from tests.runtime.support.servers import Handler, Server, serving

_PROPERTIES = {
    "Cluster": "c",
    "TaskDefinition": "upgrade:7",
    "Subnets": ["subnet-1"],
    "SecurityGroups": ["sg-1"],
    "AssignPublicIp": "DISABLED",
}


class _Ecs:
    """Two looks at a running task, then its end."""

    def __init__(self, exit_code: int | None = 0, *, starts: bool = True) -> None:
        self.started: list[dict[str, Any]] = []
        self._starts = starts
        stopped = {"lastStatus": "STOPPED", "stoppedReason": "out", "containers": [{"exitCode": exit_code}]}
        self._looks = itertools.chain([{"lastStatus": "PENDING"}, {"lastStatus": "RUNNING"}], itertools.repeat(stopped))

    def run_task(self, **request: Any) -> dict[str, Any]:
        """Start it, or say that there is no room."""
        self.started.append(request)
        return {"tasks": [{"taskArn": "task-1"}] if self._starts else [], "failures": [{"reason": "RESOURCE:CPU"}]}

    def describe_tasks(self, *, cluster: str, tasks: list[str]) -> dict[str, Any]:
        """Look once."""
        assert (cluster, tasks) == ("c", ["task-1"])
        return {"tasks": [next(self._looks)]}


class _CloudFormation(Handler):
    """Keeps the answers that come to it."""

    came: ClassVar[list[dict[str, Any]]] = []

    def do_PUT(self) -> None:  # noqa: N802  # http.server's name
        """Take one."""
        self.came.append(self.read_json())
        self.answer(200, {})


@pytest.fixture
def answers() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """CloudFormation's address for the answer, and what came there."""
    server = Server(0, _CloudFormation)
    _CloudFormation.came.clear()
    with serving(server):
        yield f"{server.url}/answer", _CloudFormation.came


def _handle(
    monkeypatch: pytest.MonkeyPatch, ecs: _Ecs, url: str, *, request: str = "Create", left_ms: int = 60_000
) -> None:
    monkeypatch.setattr("boto3.client", lambda service: ecs)
    monkeypatch.setenv("HEADWAY_SPEED", "600")
    event = {
        "RequestType": request,
        "ResponseURL": url,
        "StackId": "s",
        "RequestId": "r",
        "LogicalResourceId": "Run",
        "ResourceProperties": _PROPERTIES,
    }
    handler.handle(event, SimpleNamespace(get_remaining_time_in_millis=lambda: left_ms))


def test_a_task_that_ends_well_lets_the_deployment_go_on(
    monkeypatch: pytest.MonkeyPatch, answers: tuple[str, list[dict[str, Any]]]
) -> None:
    """It is started once, on Fargate, in the stage's own subnets."""
    url, came = answers
    ecs = _Ecs()
    _handle(monkeypatch, ecs, url)
    (answer,) = came
    about = {"StackId": "s", "RequestId": "r", "LogicalResourceId": "Run", "PhysicalResourceId": "Run"}
    assert answer.items() >= {"Status": "SUCCESS", **about}.items()
    (started,) = ecs.started
    assert (started["taskDefinition"], started["launchType"], started["count"]) == ("upgrade:7", "FARGATE", 1)
    network = {"subnets": ["subnet-1"], "securityGroups": ["sg-1"], "assignPublicIp": "DISABLED"}
    assert started["networkConfiguration"] == {"awsvpcConfiguration": network}


@pytest.mark.parametrize(
    ("ecs", "left_ms", "says"),
    [
        (_Ecs(4), 60_000, "exit code 4"),
        (_Ecs(None), 60_000, "exit code None; out"),
        (_Ecs(starts=False), 60_000, "did not start: [{'reason': 'RESOURCE:CPU'}]"),
        (_Ecs(), 10_000, "has not ended in time"),
    ],
)
def test_any_other_end_stops_the_deployment_with_its_reason(
    monkeypatch: pytest.MonkeyPatch,
    answers: tuple[str, list[dict[str, Any]]],
    ecs: _Ecs,
    left_ms: int,
    says: str,
) -> None:
    """A bad exit, a container that never began, no room, and no time."""
    url, came = answers
    _handle(monkeypatch, ecs, url, left_ms=left_ms)
    (answer,) = came
    assert answer["Status"] == "FAILED"
    assert says in answer["Reason"]


def test_deleting_it_runs_nothing(monkeypatch: pytest.MonkeyPatch, answers: tuple[str, list[dict[str, Any]]]) -> None:
    """A stack that goes leaves the job store as it is."""
    url, came = answers
    ecs = _Ecs()
    _handle(monkeypatch, ecs, url, request="Delete")
    assert (came[0]["Status"], ecs.started) == ("SUCCESS", [])
