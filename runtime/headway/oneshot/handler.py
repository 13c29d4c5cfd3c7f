"""The function behind a custom resource: starts one task, waits for its end, and answers CloudFormation.

Request and answer: CloudFormation user guide, "Custom resource request and response reference".
"""

import json
import logging
import os
import time
import urllib.request
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import boto3

from headway.clock import StageClock

if TYPE_CHECKING:
    from mypy_boto3_ecs import ECSClient

_log = logging.getLogger(__name__)

_LOOK_EVERY_S = 3.0
#: The function answers before its own time is over, or CloudFormation would wait an hour for it.
_ANSWER_MS = 20_000
#: CloudFormation takes an answer of at most 4 KB.
_REASON_LENGTH = 1_000


class TaskError(Exception):
    """The task did not start, or did not end well; the message is one line."""


def handle(event: Mapping[str, Any], context: Any) -> None:
    """Run the task that the resource's properties name, where it is created or changed; deleting it runs nothing."""
    status, reason = "SUCCESS", ""
    try:
        if event["RequestType"] != "Delete":
            clock = StageClock(float(os.environ.get("HEADWAY_SPEED") or 1))
            run(
                boto3.client("ecs"),
                event["ResourceProperties"],
                wait=lambda: time.sleep(clock.wall(_LOOK_EVERY_S, at_least=0.1)),
                time_left=lambda: context.get_remaining_time_in_millis() > _ANSWER_MS,
            )
    except Exception as error:  # whatever it is, CloudFormation waits for an answer
        _log.exception("the task did not do its work")
        status, reason = "FAILED", " ".join(str(error).split())[:_REASON_LENGTH]
    _answer(event, status, reason)


def run(
    ecs: "ECSClient", properties: Mapping[str, Any], *, wait: Callable[[], None], time_left: Callable[[], bool]
) -> None:
    """Start the task and wait until it has ended with exit code 0.

    Raises:
        TaskError: it did not.
    """
    cluster = properties["Cluster"]
    answer = ecs.run_task(
        cluster=cluster,
        taskDefinition=properties["TaskDefinition"],
        launchType="FARGATE",
        count=1,
        networkConfiguration={
            "awsvpcConfiguration": {
                "subnets": properties["Subnets"],
                "securityGroups": properties["SecurityGroups"],
                "assignPublicIp": properties["AssignPublicIp"],
            }
        },
    )
    if not answer["tasks"]:
        raise TaskError(f"the task did not start: {answer['failures']}")
    arn = answer["tasks"][0]["taskArn"]
    while time_left():
        (task,) = ecs.describe_tasks(cluster=cluster, tasks=[arn])["tasks"]
        if task["lastStatus"] == "STOPPED":
            code = task["containers"][0].get("exitCode")
            if code != 0:
                raise TaskError(f"task {arn}: exit code {code}; {task.get('stoppedReason', '')}; see its log")
            return
        wait()
    raise TaskError(f"task {arn} has not ended in time; see its log")


def _answer(event: Mapping[str, Any], status: str, reason: str) -> None:
    about = {name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")}
    body = {
        "Status": status,
        "Reason": reason or "see the function's log",
        "PhysicalResourceId": event.get("PhysicalResourceId") or event["LogicalResourceId"],
        **about,
    }
    request = urllib.request.Request(  # noqa: S310  # the address that CloudFormation gave
        event["ResponseURL"], data=json.dumps(body).encode(), method="PUT", headers={"Content-Type": ""}
    )
    with urllib.request.urlopen(request, timeout=10):  # noqa: S310  # as above
        pass
