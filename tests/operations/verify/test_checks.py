"""What a verification says when a step is not well: each check on what the APIs of an emulated account answer."""

import datetime as dt
import time
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import pytest

from headway.worker.guard import GRANTED, RELEASED
from headway_ops.connection import Connection
from headway_ops.deployed import DeployedStage, RunningTask
from headway_ops.doctor import Finding
from headway_ops.local import aws
from headway_ops.local.errors import StageError
from headway_ops.verify import Patience, Subject, consumer, outlive, queues, verify_after, verify_before
from stacks.loading import load_stage
from tests.operations.account import emulated_account
from tests.operations.promotion.shop import Shop
from tests.operations.services import BEGAN, service
from tests.synth import varied

SETTINGS = load_stage("local")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The clients of an emulated account."""
    with emulated_account(tmp_path_factory.mktemp("account")) as account:
        yield cache(lambda service: aws.client(service, account))


@pytest.fixture
def subject(client: Any) -> Subject:
    """The local stage at true speed, as a verification sees it."""
    return Subject(SETTINGS, {}, Connection("local", client), Patience(0))


def said(checks: Iterator[Any]) -> tuple[list[str], list[str]]:
    """Return the names of what was found, and the notices."""
    everything = list(checks)
    return [each.name for each in everything if isinstance(each, Finding)], [
        e for e in everything if isinstance(e, str)
    ]


def test_a_canary_goes_through_each_lane_that_nobody_reads(client: Any) -> None:
    """Sent, received, extended, deleted by the caller, which is said; nothing of it is left."""
    shop = Shop("canary", client)
    shop.deploy("queues", "on")
    found, notices = said(queues.canaries(shop.look()))
    assert found == []
    assert [line.partition(":")[0] for line in notices] == ["lane heavy", "lane fast"]
    assert all("by your own credentials" in line for line in notices)
    assert [lane.queue.held for lane in shop.look().lanes.values()] == [0, 0]


def test_a_message_that_waits_is_left_alone(client: Any) -> None:
    """No canary among strangers: the message was never received, so none of its receives is used up."""
    shop = Shop("waiting", client)
    shop.deploy("queues", "off")
    url = shop.look().lanes["heavy"].queue.url
    client("sqs").send_message(QueueUrl=url, MessageBody="somebody's")
    found, notices = said(queues.canaries(shop.look()))
    assert (found, notices) == ([], ["lane heavy: no canary, 1 messages wait there"])
    answer = client("sqs").receive_message(QueueUrl=url, AttributeNames=["ApproximateReceiveCount"], WaitTimeSeconds=0)
    assert answer["Messages"][0]["Attributes"]["ApproximateReceiveCount"] == "1"


def test_a_metric_is_fresh_for_two_publishes(client: Any, subject: Subject) -> None:
    """Never published, published five minutes ago, published now: the local stage publishes every ten seconds."""
    stage = DeployedStage("local", client)
    put = partial(client("cloudwatch").put_metric_data, Namespace="Headway")
    names = [{"Name": "Stage", "Value": "local"}, {"Name": "Lane", "Value": "heavy"}]
    about = {"MetricName": "TasksNeeded", "Dimensions": names, "Value": 1.0}
    (finding,) = consumer.fresh_metric(subject, stage)
    assert str(finding) == "metric-stale: publisher: TasksNeeded has not been published in 15 minutes"
    put(MetricData=[{**about, "Timestamp": dt.datetime.now(dt.UTC) - dt.timedelta(minutes=5)}])
    assert said(consumer.fresh_metric(subject, stage))[0] == ["metric-stale"]
    put(MetricData=[{**about, "Timestamp": dt.datetime.now(dt.UTC)}])
    assert said(consumer.fresh_metric(subject, stage)) == ([], [])


@pytest.mark.parametrize(
    ("logged", "missing"),
    [((), [GRANTED, RELEASED]), ((GRANTED,), [RELEASED]), ((GRANTED, RELEASED), [])],
)
def test_protection_is_proven_by_a_grant_and_a_release(
    logged: tuple[str, ...], missing: list[str], client: Any
) -> None:
    """In the log of the task itself, whose own role and agent it was."""
    logs, group = client("logs"), f"group-{len(logged)}"
    logs.create_log_group(logGroupName=group)
    logs.create_log_stream(logGroupName=group, logStreamName="heavy/Worker/t1")
    events = [{"timestamp": int(time.time() * 1000), "message": f"INFO guard: {line}"} for line in (*logged, "other")]
    logs.put_log_events(logGroupName=group, logStreamName="heavy/Worker/t1", logEvents=events)
    stage = DeployedStage("local", client)
    stage.services = (service(variables={"HEADWAY_PROTECTION": "on"}, log_group=group),)
    found = list(consumer.protected_once(stage))
    assert [str(each) for each in found] == (
        [f"protection: heavy: task t1 has not logged: {', '.join(missing)}"] if missing else []
    )


def test_a_fleet_at_rest_proves_nothing_and_says_so(client: Any) -> None:
    """A lane that may scale to zero has no task to ask."""
    stage = DeployedStage("local", client)
    stage.services = (service(variables={"HEADWAY_PROTECTION": "on"}, tasks=()),)
    assert said(consumer.protected_once(stage)) == ([], ["heavy: no task runs, so its protection is not proven"])


def test_a_deployment_that_goes_on_is_not_rolled_out() -> None:
    """Two deployments, or fewer tasks than are wanted, are what the next step must not build on."""
    assert said(consumer.rolled_out(service(), "heavy"))[0] == []
    assert said(consumer.rolled_out(service(deployments=2, rollout="IN_PROGRESS"), "heavy"))[0] == ["rollout"]
    assert said(consumer.rolled_out(service(running=0), "heavy"))[0] == ["rollout"]


def test_a_protection_that_outlives_cloudformation_is_a_warning() -> None:
    """3,960 s of work and 30 minutes fit into three hours; with 114 minutes, 10,800 s, they do not."""
    assert list(outlive.by_settings(SETTINGS)) == []
    longer = varied(SETTINGS, services__heavy__protection_min=114)
    (line,) = outlive.by_settings(longer)
    assert line.startswith("heavy: a task may stay protected for 10800 s")


def test_old_protected_tasks_are_told_with_what_ends_first() -> None:
    """The deployment began at 12:00, so CloudFormation gives up at 15:00."""
    for minutes, word in ((150, "before"), (190, "after")):
        until = BEGAN + dt.timedelta(minutes=minutes)
        deployed = service(deployments=2, tasks=(RunningTask("t1", "old", "RUNNING", until),))
        (line,) = outlive.by_tasks({"heavy": deployed})
        assert line.startswith(f"heavy: 1 tasks of an old revision are protected until {until:%H:%M:%S}, {word} ")
        assert line.endswith("gives up at 15:00:00")


def test_a_deployment_is_told_beforehand_whom_it_waits_for() -> None:
    """Two of three tasks are at work, the later one's protection ends at 12:30."""
    ends = [BEGAN + dt.timedelta(minutes=minutes) for minutes in (10, 30)]
    tasks = [RunningTask(f"t{at}", "now", "RUNNING", at) for at in (*ends, None)]
    assert list(outlive.waited_for({"heavy": service(tasks=tasks, running=3), "fast": service("fast")})) == [
        "heavy: 2 of 3 tasks are protected, the last until 12:30:00 unless it renews: a deployment waits for them"
    ]


def test_the_breaker_is_told_while_protected_tasks_hold_the_deployment() -> None:
    """Half the desired tasks, at least three (ECS developer guide: the threshold is 3..200)."""
    deployed = service(
        deployments=2,
        rollout="IN_PROGRESS",
        failed_tasks=2,
        desired=10,
        tasks=(RunningTask("t1", "old", "RUNNING", BEGAN),),
    )
    lines = list(outlive.by_tasks({"heavy": deployed}))
    assert lines[1] == (
        "heavy: 2 tasks have failed, the circuit breaker rolls back at 5, while 1 protected tasks hold the deployment"
    )


@pytest.mark.parametrize("ask", [verify_before, partial(verify_after, canary=False)])
def test_a_stack_that_the_stage_has_not_is_refused(ask: Any, subject: Subject) -> None:
    """A stage in somebody's own network has none to promote: one line, exit 3."""
    with pytest.raises(
        StageError, match="stage local has no stack network: it imports what that would make"
    ) as refused:
        ask(subject, "network")
    assert refused.value.exit_code == 3


def test_patience_ends_with_the_last_word() -> None:
    """It looks again until nothing is found, or its time is over; a notice is no reason to wait."""
    now = [0.0]
    patience = Patience(3.0, clock=lambda: now[0], pause=lambda s: now.__setitem__(0, now[0] + s))
    looks: Iterator[list[Any]] = iter([[Finding("a", "b", "c")], [Finding("a", "b", "c")], ["only a notice"]])
    assert patience.until_well(lambda: list(next(looks))) == ["only a notice"]
    assert now == [2.0]
    assert patience.until_well(lambda: [Finding("a", "b", "c")]) == [Finding("a", "b", "c")]
    assert now == [5.0]
