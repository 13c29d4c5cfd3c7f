"""What is waiting, in flight, running and protected right now? One look, complete or not at all."""

from typing import TYPE_CHECKING

from headway.contract import PublisherEnv
from headway.scaling import LaneCounts, Reading

if TYPE_CHECKING:
    from mypy_boto3_ecs import ECSClient
    from mypy_boto3_ecs.type_defs import ServiceTypeDef
    from mypy_boto3_sqs import SQSClient

#: GetTaskProtection takes at most 100 tasks, and ListTasks returns at most 100 a page (ECS API reference).
_TASKS_PER_CALL = 100
#: ECS answers MISSING for a task that stopped since it was listed ("Amazon ECS API failure reasons").
_GONE = "MISSING"


class ReadError(RuntimeError):
    """AWS answered, but not with everything that was asked for."""


def read(env: PublisherEnv, sqs: "SQSClient", ecs: "ECSClient") -> Reading:
    """Return one look at the stage's lanes and at its scaled service.

    Raises:
        ReadError: a part is missing from an answer.
        botocore.exceptions.ClientError: AWS refused a call.
        botocore.exceptions.BotoCoreError: AWS could not be reached in time.
    """
    lanes = {name: _lane_counts(sqs, url) for name, url in env.queue_urls.items()}
    service = _service(ecs, env.cluster, env.service)
    return Reading(
        heavy=lanes[env.main_lane],
        fast=lanes.get("fast"),
        running=service["runningCount"],
        desired=service["desiredCount"],
        protected=_protected(ecs, env.cluster, env.service),
        # A service at rest has one deployment, its primary (ECS API reference, Service).
        deploying=len(service["deployments"]) > 1,
    )


def _lane_counts(sqs: "SQSClient", url: str) -> LaneCounts:
    answer = sqs.get_queue_attributes(
        QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    )
    try:
        attributes = answer["Attributes"]
        return LaneCounts(
            visible=int(attributes["ApproximateNumberOfMessages"]),
            in_flight=int(attributes["ApproximateNumberOfMessagesNotVisible"]),
        )
    except KeyError as missing:
        raise ReadError(f"{url}: no {missing.args[0]} in the answer") from None


def _service(ecs: "ECSClient", cluster: str, service: str) -> "ServiceTypeDef":
    services = ecs.describe_services(cluster=cluster, services=[service])["services"]
    if not services:
        raise ReadError(f"service {service} is not in cluster {cluster}")
    return services[0]


def _protected(ecs: "ECSClient", cluster: str, service: str) -> int:
    pages = ecs.get_paginator("list_tasks").paginate(
        cluster=cluster, serviceName=service, PaginationConfig={"PageSize": _TASKS_PER_CALL}
    )
    return sum(_protected_among(ecs, cluster, page["taskArns"]) for page in pages if page["taskArns"])


def _protected_among(ecs: "ECSClient", cluster: str, tasks: list[str]) -> int:
    answer = ecs.get_task_protection(cluster=cluster, tasks=tasks)
    failed = [failure for failure in answer["failures"] if failure.get("reason") != _GONE]
    if failed:
        raise ReadError(f"protection of {failed[0].get('arn')}: {failed[0].get('reason')}")
    return sum(task["protectionEnabled"] for task in answer["protectedTasks"])
