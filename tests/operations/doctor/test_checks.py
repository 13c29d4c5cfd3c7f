"""What the doctor's checks say of values: those that no drift of a whole stage is seeded for."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from headway_ops.deployed import Alarm, DeployedLane, DeployedScaling, Queue, RunningTask, Stack
from headway_ops.deployed.roles import denied
from headway_ops.doctor.intended import intended
from headway_ops.doctor.lanes import check_lanes
from headway_ops.doctor.loop import check_loop
from headway_ops.doctor.release import check_release
from headway_ops.doctor.services import check_services
from headway_ops.doctor.workers import check_worker
from stacks.loading import load_stage
from tests.operations.services import service
from tests.synth import varied

SETTINGS = load_stage("local")
WAIT = "broker_transport_options.wait_time_seconds"
ROLE = "arn:aws:iam::000000000000:role/r"


def report(*warnings: str, **rows: tuple[str, str]) -> Mapping[str, Any]:
    """Return a worker's report with a long poll, and these (value, source) by setting besides."""
    settings = {WAIT: ("20", "HEADWAY_WAIT_TIME_S"), **rows}
    return {
        "settings": [{"name": name, "value": value, "source": source} for name, (value, source) in settings.items()],
        "warnings": list(warnings),
    }


ASKED = {"HEADWAY_WAIT_TIME_S": "20", "HEADWAY_CONCURRENCY": "4", "HEADWAY_PROTECTION": "on", "HEADWAY_MODEL_NAME": "m"}


@pytest.mark.parametrize(
    ("said", "names"),
    [
        (report(), []),
        (report(HEADWAY_PROTECTION=("True", "HEADWAY_PROTECTION")), []),
        (report(worker_concurrency=("4", "HEADWAY_CONCURRENCY")), []),
        (report(worker_concurrency=("8", "HEADWAY_CONCURRENCY")), ["worker-differs"]),
        (report(HEADWAY_MODEL_NAME=("n", "HEADWAY_MODEL_NAME")), ["worker-differs"]),
        (report(HEADWAY_MODEL_NAME=("n", "HEADWAY_MODEL_NAME (not set: its default)")), ["default-in-use"]),
        (report(**{WAIT: ("20", "HEADWAY_WAIT_TIME_S (not set: its default)")}), ["wait-default"]),
        (report("broker_transport_options.queue_tags is ignored: no queue is created"), ["ignored-option"]),
        (report("x.predefined_queues.heavy.visibility_timeout is ignored: y"), ["per-queue-visibility"]),
        ({"settings": [], "warnings": []}, ["wait-default"]),
    ],
)
def test_a_workers_report_is_held_against_its_stacks_definition(said: Mapping[str, Any], names: list[str]) -> None:
    """Numbers are numbers, on is True; a default, another value, an ignored option and no long poll have names."""
    found = list(check_worker(service(asked=ASKED), said))
    assert [finding.name for finding in found] == names


def test_a_task_that_stayed_on_an_older_revision_is_stale_once_the_deployment_is_over() -> None:
    """While it goes on, old tasks are what it is about."""
    old = (RunningTask("cluster/t1", "before", "RUNNING", None),)
    told = {"FAST_QUEUE": "fast", "HEADWAY_QUEUE_URLS": '{"fast": "u"}'}
    for deployments, names in ((1, ["stale-task-definition"]), (2, [])):
        web = service("", tasks=old, deployments=deployments, variables=told)
        found = check_services(SETTINGS, {"web": web, "heavy": _told("heavy"), "fast": _told("fast")})
        assert [finding.name for finding in found] == names


def _told(lane: str) -> Any:
    return service(lane, variables={name: value for name, (value, _) in intended(SETTINGS, lane).items()})


def test_a_lane_without_queue_or_service_is_missing() -> None:
    """Each by its own name, and the other lane's checks go on."""
    lanes = {"heavy": _lane("heavy")}
    assert [str(finding) for finding in check_lanes(SETTINGS, lanes)] == [
        "lane-missing: fast: its queue does not exist"
    ]
    assert [finding.name for finding in check_services(SETTINGS, {"heavy": _told("heavy")})] == ["lane-unserved"]


def _lane(name: str, **changed: str) -> DeployedLane:
    lane = getattr(SETTINGS.lanes, name)
    attributes = {
        "QueueArn": f"arn:{name}",
        "VisibilityTimeout": str(lane.visibility_timeout_s),
        "ReceiveMessageWaitTimeSeconds": str(lane.wait_time_s),
        "MessageRetentionPeriod": str(lane.retention_s),
        "MaximumMessageSize": str(lane.max_message_bytes),
        "RedrivePolicy": f'{{"deadLetterTargetArn": "arn:{name}-dead", "maxReceiveCount": {lane.max_receives}}}',
    }
    letters = {"QueueArn": f"arn:{name}-dead", "MessageRetentionPeriod": str(lane.dlq_retention_s)}
    return DeployedLane(Queue("u", {**attributes, **changed}), Queue("d", letters))


@pytest.mark.parametrize(
    ("attribute", "value", "name"),
    [
        ("MessageRetentionPeriod", "60", "retention"),
        ("MaximumMessageSize", "1024", "message-size"),
        ("RedrivePolicy", '{"deadLetterTargetArn": "arn:other", "maxReceiveCount": 5}', "redrive"),
    ],
)
def test_each_attribute_has_a_name(attribute: str, value: str, name: str) -> None:
    """Those that no drift was seeded for; the right ones have nothing to say."""
    only_heavy = varied(SETTINGS, fast_lane="off")
    assert list(check_lanes(only_heavy, {"heavy": _lane("heavy")})) == []
    assert [f.name for f in check_lanes(only_heavy, {"heavy": _lane("heavy", **{attribute: value})})] == [name]


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"concurrency": 0}, "publisher-off"),
        ({"rules": {"ReconcilerSchedule": "DISABLED"}}, "reconciler-off"),
        ({"variables": {"HEADWAY_PLAN": "{}"}}, "pinned-elsewhere"),
        ({"target": {}}, "scaling-bounds"),
        ({"target": {"MinCapacity": 0, "MaxCapacity": 6}}, "scaling-bounds"),
        ({"live_policies": []}, "alarm-unwired"),
        ({"alarms": []}, "alarm-unwired"),
        ({"alarms": [Alarm("ScalingOutAlarm", 1, ["arn:out"]), Alarm("Told", 1, [])]}, "alarm-unwired"),
        ({"alarms": [Alarm("ScalingOutAlarm", 1, ["arn:other"])]}, "alarm-unwired"),
    ],
)
def test_each_place_where_the_loop_can_be_open_has_a_name(changes: dict[str, Any], name: str) -> None:
    """A function that may not run, a schedule, a plan, a target, a policy, an alarm; a closed one has nothing."""
    closed: dict[str, Any] = {
        "variables": {"HEADWAY_PLAN": json.dumps(SETTINGS.plan.to_mapping())},
        "concurrency": 1,
        "rules": {"PublisherSchedule": "ENABLED"},
        # Six tasks of four slots are the local stage's quota of 24.
        "target": {"MinCapacity": 1, "MaxCapacity": 6},
        "policies": {"ScalingOut": "arn:out"},
        "live_policies": ["arn:out"],
        "alarms": [Alarm("ScalingOutAlarm", 1, ["arn:out"]), Alarm("Told", 1, ["arn:topic"]), Alarm("Shown", 0, [])],
    }
    assert list(check_loop(SETTINGS, DeployedScaling(**closed), {})) == []
    assert {f.name for f in check_loop(SETTINGS, DeployedScaling(**{**closed, **changes}), {})} == {name}


def test_a_desired_count_beyond_the_plan_is_pinned() -> None:
    """Seven tasks where the quota allows six; the fixed lane has one."""
    found = check_loop(SETTINGS, DeployedScaling({}, None, {}, {}, {}, [], []), {"heavy": service(desired=7)})
    assert "desired-pinned: heavy: 7 tasks are desired, the plan allows 1..6" in [str(finding) for finding in found]


def test_a_release_differs_by_resource_and_path() -> None:
    """More, fewer, and other properties; metadata and the CDK's usage data say nothing."""

    def template(**resources: Any) -> dict[str, Any]:
        return {"Resources": resources}

    same = {"Type": "T", "Properties": {"A": [1, 2]}}
    there = template(Same={**same, "Metadata": {"p": 1}}, Gone=same, Other=same, CDKMetadata={"Type": "M"})
    wanted = template(Same=same, More=same, Other={"Type": "T", "Properties": {"A": [1, 3]}})
    found = check_release(wanted, Stack("s", "l", "UPDATE_COMPLETE", there, {}, {}), "queues")
    assert [str(finding).removeprefix("not-deployed: queues.") for finding in found] == [
        "Gone: is in the stack, and not in this release",
        "More: is in this release, and not in the stack",
        "Other: Properties.A.1 differs from this release's",
    ]


@pytest.mark.parametrize(
    ("statement", "actions"),
    [
        ({"Principal": "*", "Action": "sqs:*"}, {"sqs:ReceiveMessage"}),
        ({"Principal": {"AWS": ROLE}, "Action": ["sqs:Receive*"]}, {"sqs:ReceiveMessage"}),
        (
            {"Principal": {"AWS": "arn:aws:iam::000000000000:root"}, "Action": "SQS:receivemessage"},
            {"sqs:ReceiveMessage"},
        ),
        ({"Principal": {"AWS": f"{ROLE}2"}, "Action": "sqs:*"}, set()),
        ({"Principal": "*", "Action": "sqs:Send*"}, set()),
        ({"Principal": "*", "Action": "sqs:*", "Condition": {"Bool": {"aws:SecureTransport": "false"}}}, set()),
    ],
)
def test_a_queues_policy_takes_back_what_a_role_was_granted(statement: dict[str, Any], actions: set[str]) -> None:
    """IAM's case-insensitive actions with wildcards, and each way to name the role; not the rule against plain HTTP."""
    policy = {"Statement": [{"Effect": "Deny", **statement}]}
    assert denied(policy, ROLE, ["sqs:ReceiveMessage"]) == actions
