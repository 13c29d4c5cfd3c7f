"""The loop that sizes the scaled service: its function, schedule, target, policies and alarms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headway_ops.deployed.stack import Stack


@dataclass(frozen=True)
class Alarm:
    """An alarm, how many actions its template gives it, and those that it has; none where they are disabled."""

    logical_id: str
    asked: int
    actions: Sequence[str]


@dataclass(frozen=True)
class DeployedScaling:
    """``policies`` are ARNs by logical id; ``target`` is Application Auto Scaling's own record, empty without one.

    ``rules`` are the schedules' states by logical id, ``concurrency`` what the function has reserved.
    """

    variables: Mapping[str, str]
    concurrency: int | None
    rules: Mapping[str, str]
    target: Mapping[str, Any]
    policies: Mapping[str, str]
    live_policies: Sequence[str]
    alarms: Sequence[Alarm]


def read_scaling(clients: Any, stack: Stack) -> DeployedScaling:
    """Return a consumer stack's control loop; ``clients`` gives the client of a service by its name."""
    function = stack.one("AWS::Lambda::Function", "PublisherFunction")
    target = stack.one("AWS::ApplicationAutoScaling::ScalableTarget")
    autoscaling = clients("application-autoscaling")
    resource = target.physical_id.split("|")[0] if target else ""
    where = {"ServiceNamespace": "ecs", "ScalableDimension": "ecs:service:DesiredCount"}
    targets = autoscaling.describe_scalable_targets(**where, ResourceIds=[resource])["ScalableTargets"]
    policies = autoscaling.describe_scaling_policies(**where, ResourceId=resource)["ScalingPolicies"]
    rules = {logical_id: rule.physical_id for logical_id, rule in stack.of("AWS::Events::Rule")}
    lambda_, events = clients("lambda"), clients("events")
    named = {"FunctionName": function.physical_id} if function else {}
    return DeployedScaling(
        variables=lambda_.get_function_configuration(**named).get("Environment", {}).get("Variables", {}),
        concurrency=lambda_.get_function_concurrency(**named).get("ReservedConcurrentExecutions"),
        rules={logical_id: events.describe_rule(Name=name)["State"] for logical_id, name in rules.items()},
        target=next((each for each in targets if each["ResourceId"] == resource), {}),
        policies={
            logical_id: policy.physical_id
            for logical_id, policy in stack.of("AWS::ApplicationAutoScaling::ScalingPolicy")
        },
        live_policies=[policy["PolicyARN"] for policy in policies],
        alarms=_alarms(clients("cloudwatch"), stack),
    )


def _alarms(cloudwatch: Any, stack: Stack) -> Sequence[Alarm]:
    wanted = dict(stack.of("AWS::CloudWatch::Alarm"))
    names = [alarm.physical_id for alarm in wanted.values()]
    pages = cloudwatch.get_paginator("describe_alarms").paginate(AlarmNames=names) if names else ()
    live = {
        alarm["AlarmName"]: alarm.get("AlarmActions", ())
        for page in pages
        for alarm in page["MetricAlarms"]
        if alarm["ActionsEnabled"]
    }
    return [
        Alarm(logical_id, len(alarm.properties.get("AlarmActions", ())), live.get(alarm.physical_id, ()))
        for logical_id, alarm in wanted.items()
    ]
