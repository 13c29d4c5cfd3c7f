"""What was put into the emulator: tasks that are processes, alarms that are evaluated, protection that holds."""

import dataclasses
import io
import json
import signal
import socket
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest
from aws_lambda_powertools.metrics import MetricUnit

from headway.emf import metric_line
from headway_ops.local.aws import client, emulator
from headway_ops.local.emulator.config import EmulatorConfig
from headway_ops.local.emulator.stage_time import MIN_VISIBILITY_WALL_S, StageTime
from headway_ops.local.errors import UnreachableError
from headway_ops.local.ports import free_port
from tests.operations.local.conftest import SECRET_ARN
from tests.runtime.support.waiting import until

#: Prints its environment, and ends on SIGTERM unless it is told to be stubborn.
PROGRAM = """
import json, os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN if os.environ.get("STUBBORN") else lambda *_: os._exit(0))
print(json.dumps(dict(os.environ)), flush=True)
while True:
    time.sleep(600)
"""


class Fleet:
    """One service of the emulated account."""

    def __init__(self, account: EmulatorConfig, *, stubborn: bool = False, stop_timeout_s: int = 120) -> None:
        self.account, self.ecs = account, client("ecs", account)
        self.cluster = self.service = f"fleet-{uuid4().hex[:8]}"
        environment = [{"name": "MODEL", "value": "http://model.test/v1"}]
        if stubborn:
            environment.append({"name": "STUBBORN", "value": "1"})
        container = {
            "name": "worker",
            "image": "none",
            "command": ["python", "-c", PROGRAM],
            "environment": environment,
            "secrets": [{"name": "KEY", "valueFrom": f"{SECRET_ARN}:api_key::"}],
            "stopTimeout": stop_timeout_s,
        }
        definition = self.ecs.register_task_definition(family=self.cluster, containerDefinitions=[container])
        self.ecs.create_cluster(clusterName=self.cluster)
        self.ecs.create_service(
            cluster=self.cluster,
            serviceName=self.service,
            taskDefinition=definition["taskDefinition"]["taskDefinitionArn"],
            desiredCount=1,
            launchType="FARGATE",
        )

    def scale(self, desired: int) -> None:
        """Set the desired count."""
        self.ecs.update_service(cluster=self.cluster, service=self.service, desiredCount=desired)

    @property
    def running(self) -> list[str]:
        """The ids of the tasks that run."""
        arns = self.ecs.list_tasks(cluster=self.cluster, desiredStatus="RUNNING")["taskArns"]
        tasks = self.ecs.describe_tasks(cluster=self.cluster, tasks=arns)["tasks"] if arns else []
        return [task["taskArn"].rpartition("/")[2] for task in tasks if task["lastStatus"] == "RUNNING"]

    def runs(self, count: int) -> list[str]:
        """Wait until ``count`` tasks run, and return their ids."""
        until(lambda: len(self.running) == count)
        return self.running

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Return the service's events of one kind."""
        lines = self.account.events.read_text(encoding="utf-8").splitlines()
        subject = f"{self.cluster}/{self.service}"
        return [e for line in lines if (e := json.loads(line))["kind"] == kind and e["subject"] == subject]

    def agent(self, task: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        """PUT the body to the task's agent endpoint, or GET it without one."""
        url = f"http://127.0.0.1:{self.account.agent_port}/api/{task}/task-protection/v1/state"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, method="GET" if body is None else "PUT")
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


@pytest.fixture
def fleet(account: EmulatorConfig) -> Iterator[Fleet]:
    """A service of one task, scaled to nothing at the end."""
    fleet = Fleet(account)
    yield fleet
    fleet.scale(0)


def test_the_desired_count_becomes_as_many_processes(fleet: Fleet) -> None:
    """1 -> 3 -> 1 tasks: each a process that was started, and told to end, by the desired count."""
    fleet.runs(1)
    fleet.scale(3)
    fleet.runs(3)
    fleet.scale(1)
    fleet.runs(1)
    until(lambda: len(fleet.events("stopped")) == 2)
    # A task that had not come to its handler yet ends by the signal itself.
    assert {event["exit_code"] for event in fleet.events("stopped")} <= {0, -signal.SIGTERM}
    assert not any(event["killed"] for event in fleet.events("stopped"))


def test_a_task_has_what_its_definition_and_ecs_give_it_and_nothing_else(fleet: Fleet) -> None:
    """Its secret by key, its model's host answered for, its agent and endpoint; not the emulator's own variables."""
    (task,) = fleet.runs(1)
    log = next(fleet.account.logs.glob(f"{fleet.service}-*.log"))
    environment = json.loads(until(lambda: log.read_text(encoding="utf-8")))
    assert environment["KEY"] == "s3cret"
    assert environment["MODEL"] == "http://127.0.0.1:9/v1"
    assert environment["ECS_AGENT_URI"] == f"http://127.0.0.1:{fleet.account.agent_port}/api/{task}"
    assert environment["AWS_ENDPOINT_URL"] == fleet.account.endpoint
    assert not {"HEADWAY_LOCAL", "GATEWAY_PORT", "PYTHONPATH"} & environment.keys()


def test_a_scale_in_leaves_the_protected_task(fleet: Fleet) -> None:
    """Of three tasks the oldest is protected; after a scale-in to one it is the one that runs."""
    (first,) = fleet.runs(1)
    fleet.scale(3)
    fleet.runs(3)
    status, body = fleet.agent(first, {"ProtectionEnabled": True, "ExpiresInMinutes": 60})
    assert status == 200
    assert body["protection"]["ProtectionEnabled"] is True
    fleet.scale(1)
    assert fleet.runs(1) == [first]


def test_protection_beyond_the_desired_count_is_refused_as_data(fleet: Fleet) -> None:
    """HTTP 200 with a failure inside: a caller that looks at the status alone would believe it is protected."""
    fleet.runs(1)
    fleet.scale(2)
    first, second = fleet.runs(2)
    fleet.agent(first, {"ProtectionEnabled": True})
    fleet.agent(second, {"ProtectionEnabled": True})
    fleet.scale(0)
    fleet.scale(1)
    fleet.agent(second, {"ProtectionEnabled": False})
    status, body = fleet.agent(second, {"ProtectionEnabled": True})
    assert status == 200
    assert body["failure"]["Reason"] == "DEPLOYMENT_BLOCKED"
    fleet.agent(first, {"ProtectionEnabled": False})


@pytest.mark.parametrize("body", [{}, {"ProtectionEnabled": "yes"}, {"ProtectionEnabled": True, "Expires": 1}, []])
def test_a_malformed_request_to_the_agent_is_refused(fleet: Fleet, body: Any) -> None:
    """The real agent answers 400 to a missing field, a wrong type and an unknown field."""
    (task,) = fleet.runs(1)
    assert fleet.agent(task, body)[0] == 400


def test_the_agent_knows_its_own_tasks_only(fleet: Fleet) -> None:
    """An unknown container gets 404."""
    assert fleet.agent("nobody", {"ProtectionEnabled": True})[0] == 404


def test_protection_shows_in_the_ecs_api_until_it_is_released(fleet: Fleet) -> None:
    """GetTaskProtection tells what the agent was asked for; the expiry is in stage time."""
    (task,) = fleet.runs(1)
    fleet.agent(task, {"ProtectionEnabled": True, "ExpiresInMinutes": 10})
    (shown,) = fleet.ecs.get_task_protection(cluster=fleet.cluster, tasks=[task])["protectedTasks"]
    assert shown["protectionEnabled"]
    assert 0 < shown["expirationDate"].timestamp() - time.time() <= 10
    fleet.agent(task, {"ProtectionEnabled": False})
    (shown,) = fleet.ecs.get_task_protection(cluster=fleet.cluster, tasks=[task])["protectedTasks"]
    assert not shown["protectionEnabled"]


def test_a_task_that_ignores_sigterm_is_killed_after_its_stop_timeout(account: EmulatorConfig) -> None:
    """SIGTERM first, SIGKILL once stopTimeout is over: the event says so."""
    fleet = Fleet(account, stubborn=True, stop_timeout_s=30)
    fleet.runs(1)
    log = next(account.logs.glob(f"{fleet.service}-*.log"))
    until(lambda: log.read_text(encoding="utf-8"))
    fleet.scale(0)
    (stopped,) = until(lambda: fleet.events("stopped"))
    assert stopped["killed"]
    assert stopped["exit_code"] == -9


def test_an_alarm_looks_at_its_own_dimensions_and_needs_all_its_periods(account: EmulatorConfig) -> None:
    """Two of two 10 s periods over the threshold raise it, another stage's datapoints do not."""
    cloudwatch = client("cloudwatch", account)
    names = [f"alarm-{uuid4().hex[:8]}" for _ in range(2)]
    for name, stage in zip(names, ("mine", "other"), strict=True):
        cloudwatch.put_metric_alarm(
            AlarmName=name,
            Namespace=names[0],
            MetricName="Level",
            Dimensions=[{"Name": "Stage", "Value": stage}],
            Statistic="Maximum",
            Period=10,
            EvaluationPeriods=2,
            Threshold=1,
            ComparisonOperator="GreaterThanOrEqualToThreshold",
            TreatMissingData="notBreaching",
        )

    def states() -> list[str]:
        dimensions = [{"Name": "Stage", "Value": "mine"}]
        cloudwatch.put_metric_data(
            Namespace=names[0], MetricData=[{"MetricName": "Level", "Dimensions": dimensions, "Value": 2}]
        )
        found = cloudwatch.describe_alarms(AlarmNames=names)["MetricAlarms"]
        return [alarm["StateValue"] for alarm in sorted(found, key=lambda alarm: names.index(alarm["AlarmName"]))]

    until(lambda: states() == ["ALARM", "OK"])


def test_what_a_short_task_prints_is_measured(account: EmulatorConfig) -> None:
    """A task that prints a metric line and ends: the metric is there, and its alarm on silence goes off and back."""
    ecs, cloudwatch, name = client("ecs", account), client("cloudwatch", account), f"run-{uuid4().hex[:8]}"
    cloudwatch.put_metric_alarm(
        AlarmName=name,
        Namespace=name,
        MetricName="Runs",
        Dimensions=[{"Name": "Stage", "Value": "test"}],
        Statistic="Sum",
        Period=600,
        EvaluationPeriods=1,
        Threshold=1,
        ComparisonOperator="LessThanThreshold",
        TreatMissingData="breaching",
    )

    def state() -> str:
        return str(cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"][0]["StateValue"])

    until(lambda: state() == "ALARM", what="the alarm without any run")
    line = metric_line(name, {"Stage": "test"}, {"Runs": (MetricUnit.Count, 1)})
    container = {"name": "run", "image": "none", "command": ["python", "-c", f"print({line!r})"]}
    ecs.create_cluster(clusterName=name)
    ecs.register_task_definition(family=name, containerDefinitions=[container])
    ecs.run_task(cluster=name, taskDefinition=name, launchType="FARGATE")
    until(lambda: state() == "OK", what="the alarm after a run")
    now = datetime.now(UTC)
    found = cloudwatch.get_metric_statistics(
        Namespace=name,
        MetricName="Runs",
        Dimensions=[{"Name": "Stage", "Value": "test"}],
        StartTime=now - timedelta(minutes=10),
        EndTime=now + timedelta(minutes=10),
        Period=60,
        Statistics=["Sum"],
    )["Datapoints"]
    assert [point["Sum"] for point in found] == [1.0]


def test_visibility_is_stage_time_and_never_shorter_than_a_laptop_can_keep(account: EmulatorConfig) -> None:
    """A message hidden for 1,200 stage seconds is back after 20 wall seconds at speed 60, one for 30 s after six."""
    clock = StageTime(speed=60)
    assert clock.visibility_wall(1_200) == 20
    assert clock.visibility_wall(30) == MIN_VISIBILITY_WALL_S == 6
    assert clock.visibility_wall(0) == 0
    sqs = client("sqs", account)
    url = sqs.create_queue(QueueName=uuid4().hex, Attributes={"VisibilityTimeout": "30"})["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="x")
    (message,) = sqs.receive_message(QueueUrl=url)["Messages"]
    assert "Messages" not in sqs.receive_message(QueueUrl=url)
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0)
    assert "Messages" in sqs.receive_message(QueueUrl=url)


def test_everything_listens_on_loopback_only(account: EmulatorConfig) -> None:
    """The emulator and the agent bind 127.0.0.1."""
    ports = {account.port, account.agent_port}
    listening = {tuple(c.laddr) for c in psutil.net_connections("tcp") if c.status == "LISTEN"}
    assert {place for place in listening if place[1] in ports} == {("127.0.0.1", port) for port in ports}


def test_the_configuration_is_for_its_owner_alone(account: EmulatorConfig) -> None:
    """It holds secrets."""
    assert (Path(account.directory) / "emulator.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("taken", ["port", "agent_port"])
def test_a_port_that_is_taken_is_one_line(taken: str, account: EmulatorConfig, tmp_path: Path) -> None:
    """An emulator whose port somebody has does not come up: exit 4, and where to look."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        ports = {"port": free_port(), "agent_port": free_port(), taken: holder.getsockname()[1]}
        config = dataclasses.replace(account, **ports, directory=str(tmp_path))
        with pytest.raises(UnreachableError, match=r"did not start; see .*emulator\.log") as refused, emulator(config):
            pass
    assert refused.value.exit_code == 4


def function(account: EmulatorConfig, code: str, *, reserved: int | None = None) -> str:
    """Create a function of this code, and return its name."""
    archive, name, lambda_ = io.BytesIO(), f"function-{uuid4().hex[:8]}", client("lambda", account)
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr("main.py", code)
    lambda_.create_function(
        FunctionName=name,
        Runtime="python3.13",
        Role=f"arn:aws:iam::{account.account}:role/none",
        Handler="main.handle",
        Code={"ZipFile": archive.getvalue()},
        Environment={"Variables": {"HEADWAY_SPEED": "1.0"}},
    )
    if reserved is not None:
        lambda_.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=reserved)
    return name


def test_a_function_runs_at_the_stages_speed_whatever_its_template_says(account: EmulatorConfig) -> None:
    """Its own variable says 1, the stage runs at 60."""
    name = function(account, "import os\ndef handle(event, context):\n    return os.environ['HEADWAY_SPEED']\n")
    answer = client("lambda", account).invoke(FunctionName=name)
    assert json.load(answer["Payload"]) == str(account.speed)


def test_a_schedule_never_runs_a_function_beyond_its_reservation(account: EmulatorConfig, tmp_path: Path) -> None:
    """A rule of one a minute, a second here, meets an invocation that has not ended: it starts no second one."""
    log = tmp_path / "invocations"
    name = function(
        account,
        "import time\ndef handle(event, context):\n"
        f"    open({str(log)!r}, 'a').write('began ')\n    time.sleep(2.5)\n"
        f"    open({str(log)!r}, 'a').write('ended ')\n",
        reserved=1,
    )
    events, rule = client("events", account), f"rule-{uuid4().hex[:8]}"
    arn = f"arn:aws:lambda:{account.region}:{account.account}:function:{name}"
    events.put_rule(Name=rule, ScheduleExpression="rate(1 minute)")
    events.put_targets(Rule=rule, Targets=[{"Id": "1", "Arn": arn}])
    until(lambda: log.exists() and len(log.read_text(encoding="ascii").split()) >= 5, within_s=40)
    events.remove_targets(Rule=rule, Ids=["1"])
    assert log.read_text(encoding="ascii").split()[:4] == ["began", "ended", "began", "ended"]
