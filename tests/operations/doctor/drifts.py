"""Drifts that are seeded into a stage through the AWS API, one upon the other, and what the doctor finds of each."""

import functools
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from headway_ops.deployed import DeployedStage
from headway_ops.doctor import Diagnosis, examine
from headway_ops.local.running import LocalStage
from headway_ops.local.stage import local_stage
from headway_ops.simulate.assembly import read
from stacks.loading import load_stage
from tests.runtime.support.waiting import until

SPEED = 60.0
#: A worker of a new revision has written its report by then, wall seconds.
FOUND_WITHIN_S = 40.0

#: A team's own worker whose queue has an option that Kombu ignores.
THEIRS = """
import os, celery, headway.worker
from headway.contract import WorkerEnv
env = WorkerEnv.from_env(os.environ)
app = celery.Celery("theirs")
headway.worker.configure(app, env)
app.conf.broker_transport_options["predefined_queues"][env.lane]["visibility_timeout"] = 3600
app.Worker(queues=[env.lane], pool_cls="solo", without_gossip=True, without_mingle=True).start()
"""


class Account:
    """A local stage under the doctor: looked at through the AWS API, and changed through it."""

    def __init__(self, running: LocalStage) -> None:
        self.running, self.settings = running, load_stage(running.name)
        self._templates = read(Path(running.emulator.directory) / "cdk.out" / f"assembly-{running.name}").templates
        self.client = functools.cache(running.client)

    def stage(self) -> DeployedStage:
        """Return a new look at the stage."""
        return DeployedStage(self.running.name, self.client, self.running.emulator.hosts)

    def diagnosis(self) -> Diagnosis:
        """Examine the stage."""
        return examine(self.settings, self._templates, self.stage())

    def well(self) -> bool:
        """Return whether there is nothing to find, and everything could be looked at."""
        found = self.diagnosis()
        return not found.findings and not found.notices

    def queue(self, lane: str, **attributes: str) -> None:
        """Set attributes of a lane's queue."""
        url = self.stage().lanes[lane].queue.url
        self.client("sqs").set_queue_attributes(QueueUrl=url, Attributes=attributes)

    def revise(self, where: str, change: Callable[[dict[str, Any]], None] = lambda container: None) -> None:
        """Register a changed revision of a service's task definition by hand, and set the service to it."""
        ecs = self.client("ecs")
        service = next(each for each in self.stage().services if (each.lane or "web") == where)
        found = ecs.describe_task_definition(taskDefinition=service.serving.arn)["taskDefinition"]
        container = found["containerDefinitions"][0]
        container.pop("healthCheck", None)  # the emulator gives back one that the client would not take
        change(container)
        names = ("family", "containerDefinitions", "taskRoleArn", "executionRoleArn", "networkMode", "cpu", "memory")
        revised = ecs.register_task_definition(**{name: found[name] for name in names})["taskDefinition"]
        ecs.update_service(cluster=service.cluster, service=service.name, taskDefinition=revised["taskDefinitionArn"])

    def told(self, where: str, **variables: str | None) -> None:
        """Set a service to a revision whose container is told other values; None takes a variable away."""

        def change(container: dict[str, Any]) -> None:
            now = {pair["name"]: pair["value"] for pair in container["environment"]} | variables
            container["environment"] = [{"name": n, "value": v} for n, v in now.items() if v is not None]

        self.revise(where, change)

    def role(self, where: str) -> str:
        """Return the name of a part's role."""
        stage = self.stage()
        if where == "producer":
            arn = stage.stacks["producer"].outputs["ProducerRoleArn"]
        else:
            arn = stage.workers[where].serving.role_arn
        return arn.rpartition("/")[2]

    def physical(self, stack: str, kind: str, prefix: str) -> str:
        """Return the physical id of a stack's first resource of a type."""
        found = self.stage().stacks[stack].one(kind, prefix)
        assert found is not None
        return found.physical_id


@dataclass(frozen=True)
class Drift:
    """What is changed, and by which name the doctor must find it where."""

    name: str
    where: str
    seed: Callable[[Account], Any]

    def among(self, diagnosis: Diagnosis) -> bool:
        """Return whether it is found, by its name and in its part of the stage."""
        return any(f.name == self.name and f.where.startswith(self.where) for f in diagnosis.findings)


def _without_receive(account: Account) -> None:
    iam, role = account.client("iam"), account.role("heavy")
    for name in iam.list_role_policies(RoleName=role)["PolicyNames"]:
        document = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
        document = json.loads(json.dumps(document).replace("sqs:ReceiveMessage", "sqs:ListQueueTags"))
        iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(document))


def _deny(account: Account) -> None:
    lane = account.stage().lanes["fast"]
    statement = {
        "Effect": "Deny",
        "Principal": {"AWS": account.stage().workers["fast"].serving.role_arn},
        "Action": "sqs:Receive*",
        "Resource": lane.queue.arn,
    }
    policy = {**lane.queue.policy, "Statement": [*lane.queue.policy["Statement"], statement]}
    account.queue("fast", Policy=json.dumps(policy))


def _redrive(account: Account, lane: str, receives: int) -> None:
    target = account.stage().lanes[lane].dead_letters.arn
    account.queue(lane, RedrivePolicy=json.dumps({"deadLetterTargetArn": target, "maxReceiveCount": receives}))


def _take(account: Account) -> None:
    statement = {"Effect": "Allow", "Action": "sqs:*", "Resource": account.stage().lanes["heavy"].queue.arn}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    account.client("iam").put_role_policy(RoleName=account.role("producer"), PolicyName="more", PolicyDocument=document)


def _another_template(account: Account) -> None:
    stack = account.stage().stacks["queues"]
    template = json.loads(json.dumps(stack.template))
    for logical_id, resource in template["Resources"].items():
        if logical_id.startswith("FastQueue") and resource["Type"] == "AWS::SQS::Queue":
            resource["Properties"]["MessageRetentionPeriod"] = 600
    client = account.client("cloudformation")
    client.update_stack(StackName=stack.name, TemplateBody=json.dumps(template), Capabilities=["CAPABILITY_IAM"])


def _suspend(account: Account) -> None:
    target = account.stage().scaling.target  # type: ignore[union-attr]  # a consumer is deployed
    account.client("application-autoscaling").register_scalable_target(
        **{name: target[name] for name in ("ServiceNamespace", "ResourceId", "ScalableDimension")},
        SuspendedState={"DynamicScalingOutSuspended": True},
    )


def _their_worker(account: Account) -> None:
    account.revise("fast", lambda container: container.update(command=["python", "-c", THEIRS]))


def _no_web(account: Account) -> None:
    web = next(service for service in account.stage().services if not service.lane)
    account.client("ecs").update_service(cluster=web.cluster, service=web.name, desiredCount=0)


def _off(account: Account) -> None:
    rule = account.physical("consumer", "AWS::Events::Rule", "Publisher").rpartition("/")[2]
    account.client("events").disable_rule(Name=rule)


def _unwire(account: Account) -> None:
    alarm = account.physical("consumer", "AWS::CloudWatch::Alarm", "ScalingOutAlarm")
    account.client("cloudwatch").disable_alarm_actions(AlarmNames=[alarm])


def _no_secret(account: Account) -> None:
    account.client("secretsmanager").delete_secret(SecretId=account.settings.model.secret_arn)


_ABROAD = json.dumps({"heavy": "https://sqs.eu-west-1.amazonaws.com/000000000000/heavy"})

DRIFTS = (
    # First, because it updates a whole stack.
    Drift("not-deployed", "queues.FastQueue", _another_template),
    Drift("visibility-timeout", "heavy", lambda account: account.queue("heavy", VisibilityTimeout="90")),
    Drift("long-poll", "fast", lambda account: account.queue("fast", ReceiveMessageWaitTimeSeconds="0")),
    Drift("max-receives", "heavy", lambda account: _redrive(account, "heavy", 1)),
    Drift("redrive", "fast", lambda account: account.queue("fast", RedrivePolicy="")),
    Drift("missing-grant", "heavy", _without_receive),
    Drift("access-denied", "fast", _deny),
    Drift("excess-grant", "producer", _take),
    Drift("stale-task-definition", "web", lambda account: account.revise("web")),
    Drift("rollout-switch", "web", lambda account: account.told("web", FAST_QUEUE=None)),
    Drift("desired-pinned", "web", _no_web),
    Drift("pinned-elsewhere", "heavy", lambda account: account.told("heavy", HEADWAY_CONCURRENCY="3")),
    Drift("wait-default", "heavy", lambda account: account.told("heavy", HEADWAY_WAIT_TIME_S=None)),
    Drift("lane-alias", "fast", lambda account: account.told("fast", FAST_QUEUE="express")),
    Drift("per-queue-visibility", "fast", _their_worker),
    Drift("publisher-off", "publisher", _off),
    Drift("alarm-unwired", "ScalingOut", _unwire),
    Drift("scaling-suspended", "heavy", _suspend),
    Drift("wrong-region", "web", lambda account: account.told("web", HEADWAY_QUEUE_URLS=_ABROAD)),
    # Last, because no task can start after it.
    Drift("secret-missing", "heavy", _no_secret),
)


@dataclass
class Outcome:
    """What the doctor said of the clean stage, and the drifts that it found, and had not found before they were."""

    clean: Diagnosis
    found: list[Drift] = field(default_factory=list)


@contextmanager
def deployed() -> Iterator[Account]:
    """Run a local stage, its files in a temporary folder."""
    with ExitStack() as entered:
        folder = entered.enter_context(tempfile.TemporaryDirectory(prefix="headway-drifts-"))
        entered.enter_context(patch.dict(os.environ, HEADWAY_STATE=folder))
        stage = local_stage(load_stage("local"), speed=SPEED, seed=1, report=lambda text: None)
        yield Account(entered.enter_context(stage))


def run(drifts: Sequence[Drift] = DRIFTS) -> Outcome:
    """Deploy a stage, look at it, then seed one drift after the other and look for each."""
    with deployed() as account:
        until(account.well, within_s=60, what="a stage whose workers have reported")
        last = account.diagnosis()
        outcome = Outcome(last)
        for drift in drifts:
            before = drift.among(last)
            drift.seed(account)
            deadline = time.monotonic() + FOUND_WITHIN_S
            while not drift.among(last := account.diagnosis()) and time.monotonic() < deadline:
                time.sleep(0.2)
            if drift.among(last) and not before:
                outcome.found.append(drift)
        return outcome


def seeded_and_found() -> tuple[int, int]:
    """Return how many drifts were seeded, and how many of them the doctor found by their names."""
    return len(DRIFTS), len(run().found)
