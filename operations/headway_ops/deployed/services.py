"""One ECS service: what its stack asked for, what it is set to, and what its tasks really run."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headway_ops.deployed.stack import Resource, Stack

#: DescribeTasks and GetTaskProtection take at most 100 tasks (ECS API reference).
_A_CALL = 100


@dataclass(frozen=True)
class Definition:
    """A task definition: its first container's variables, its secrets' sources by variable, its role and its log."""

    arn: str
    variables: Mapping[str, str]
    secrets: Mapping[str, str]
    role_arn: str
    log_group: str
    stream: str


@dataclass(frozen=True)
class RunningTask:
    """A task, the definition it runs, and until when it is protected, None where it is not."""

    arn: str
    definition_arn: str
    status: str
    protected_until: dt.datetime | None


@dataclass(frozen=True)
class DeployedService:
    """A service. ``asked`` is the definition that its stack made, ``serving`` the one that the service is set to.

    ``lane`` is empty where its tasks consume none. ``rollout``: the newest deployment's state; ``deployments``: one
    where it is at rest; ``failed_tasks``: those of the newest one that could not start.
    """

    logical_id: str
    lane: str
    cluster: str
    name: str
    asked: Definition
    serving: Definition
    desired: int
    running: int
    rollout: str
    deployments: int
    failed_tasks: int
    began: dt.datetime | None
    tasks: Sequence[RunningTask]


def read_services(ecs: Any, stack: Stack) -> Iterator[DeployedService]:
    """Yield the services of a stack."""
    for logical_id, resource in stack.of("AWS::ECS::Service"):
        arn = resource.physical_id
        cluster = arn.split("/")[-2]
        found = ecs.describe_services(cluster=cluster, services=[arn])["services"]
        if found:
            yield _service(ecs, stack, logical_id, resource, cluster, found[0])


def _service(
    ecs: Any, stack: Stack, logical_id: str, resource: Resource, cluster: str, view: Mapping[str, Any]
) -> DeployedService:
    asked = stack.resources[resource.properties["TaskDefinition"]["Ref"]].physical_id
    serving = read_definition(ecs, view["taskDefinition"])
    newest: Mapping[str, Any] = next((each for each in view["deployments"] if each["status"] == "PRIMARY"), {})
    return DeployedService(
        logical_id=logical_id,
        lane=serving.variables.get("HEADWAY_LANE", ""),
        cluster=cluster,
        name=view["serviceName"],
        asked=serving if asked == serving.arn else read_definition(ecs, asked),
        serving=serving,
        desired=view["desiredCount"],
        running=view["runningCount"],
        rollout=newest.get("rolloutState", "COMPLETED"),
        deployments=len(view["deployments"]),
        failed_tasks=newest.get("failedTasks", 0),
        began=newest.get("createdAt"),
        tasks=tuple(_tasks(ecs, cluster, view["serviceName"])),
    )


def read_definition(ecs: Any, arn: str) -> Definition:
    """Return a task definition by its ARN."""
    found = ecs.describe_task_definition(taskDefinition=arn)["taskDefinition"]
    container = found["containerDefinitions"][0]
    log = container.get("logConfiguration", {}).get("options", {})
    return Definition(
        arn=found["taskDefinitionArn"],
        variables={pair["name"]: pair["value"] for pair in container.get("environment", ())},
        secrets={secret["name"]: secret["valueFrom"] for secret in container.get("secrets", ())},
        role_arn=found.get("taskRoleArn", ""),
        log_group=log.get("awslogs-group", ""),
        stream=f"{log.get('awslogs-stream-prefix', '')}/{container['name']}/",
    )


def _tasks(ecs: Any, cluster: str, service: str) -> Iterator[RunningTask]:
    pages = ecs.get_paginator("list_tasks").paginate(
        cluster=cluster, serviceName=service, PaginationConfig={"PageSize": _A_CALL}
    )
    for page in pages:
        if arns := page["taskArns"]:
            guarded = ecs.get_task_protection(cluster=cluster, tasks=arns)["protectedTasks"]
            until = {each["taskArn"]: each.get("expirationDate") for each in guarded if each["protectionEnabled"]}
            for task in ecs.describe_tasks(cluster=cluster, tasks=arns)["tasks"]:
                arn = task["taskArn"]
                yield RunningTask(arn, task["taskDefinitionArn"], task["lastStatus"], until.get(arn))


def log_lines(logs: Any, service: DeployedService, pattern: str) -> Mapping[str, Sequence[str]]:
    """Return the log lines of each running task by the task's ARN, at least those that match a filter pattern.

    Pattern: CloudWatch Logs user guide, "Filter pattern syntax"; the local stage knows no patterns of JSON.
    """
    lines: dict[str, list[str]] = {task.arn: [] for task in service.tasks if task.status == "RUNNING"}
    streams = {service.serving.stream + arn.rpartition("/")[2]: arn for arn in lines}
    if not streams:
        return lines
    pages = logs.get_paginator("filter_log_events").paginate(
        logGroupName=service.serving.log_group, logStreamNames=list(streams), filterPattern=pattern
    )
    for page in pages:
        for event in page["events"]:
            lines[streams[event["logStreamName"]]].append(event["message"])
    return lines
