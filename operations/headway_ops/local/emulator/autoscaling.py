"""Application Auto Scaling: the two CloudFormation types, and the calls that read them back or change a target."""

import functools
import json
from collections.abc import Mapping
from typing import Any

from ministack import app
from ministack.core import responses, router
from ministack.services.cloudformation import provisioners

from headway_ops.local.emulator.conductor import Conductor
from headway_ops.loop import template

_SERVICE = "application-autoscaling"
#: By physical id: the properties each was created with.
_targets: dict[str, Mapping[str, Any]] = {}
_policies: dict[str, Mapping[str, Any]] = {}


def install(conductor: Conductor) -> None:
    """Register the types, and the API under its target prefix."""

    def create_target(logical_id: str, properties: Mapping[str, Any], stack: str) -> tuple[str, dict[str, str]]:
        target_id = f"{properties['ResourceId']}|{properties['ScalableDimension']}|{properties['ServiceNamespace']}"
        _targets[target_id] = properties
        conductor.add_target(template.service_of(properties), template.target(properties))
        return target_id, {"Id": target_id}

    def create_policy(logical_id: str, properties: Mapping[str, Any], stack: str) -> tuple[str, dict[str, str]]:
        service = _target_of(properties)["ResourceId"]
        arn = (
            f"arn:aws:autoscaling:{responses.get_region()}:{responses.get_account_id()}:scalingPolicy:"
            f"{stack}:resource/ecs/{service}:policyName/{properties['PolicyName']}"
        )
        _policies[arn] = properties
        conductor.add_policy(arn, template.service_of(_target_of(properties)), template.policy(properties))
        return arn, {"Arn": arn}

    def delete(physical_id: str, properties: Mapping[str, Any]) -> None:
        _targets.pop(physical_id, None)
        _policies.pop(physical_id, None)
        conductor.forget(physical_id)

    for resource_type, create in ((template.TARGET, create_target), (template.POLICY, create_policy)):
        provisioners._RESOURCE_HANDLERS[resource_type] = {"create": create, "delete": delete}
    router.SERVICE_PATTERNS[_SERVICE] = {
        "target_prefixes": ["AnyScaleFrontendService"],
        "host_patterns": [r"application-autoscaling\."],
    }
    app.SERVICE_REGISTRY[_SERVICE] = {"module": "autoscaling"}
    app.SERVICE_HANDLERS[_SERVICE] = functools.partial(_handle, conductor)


def _target_of(policy: Mapping[str, Any]) -> Mapping[str, Any]:
    if "ScalingTargetId" in policy:
        return _targets[policy["ScalingTargetId"]]
    return policy


async def _handle(
    conductor: Conductor, method: str, path: str, headers: Mapping[str, str], body: bytes, query: Any
) -> Any:
    action = headers.get("x-amz-target", "").rpartition(".")[2]
    if action == "DescribeScalableTargets":
        return responses.json_response({"ScalableTargets": [_describe_target(target) for target in _targets.values()]})
    if action == "DescribeScalingPolicies":
        return responses.json_response({"ScalingPolicies": [_describe_policy(*item) for item in _policies.items()]})
    if action == "RegisterScalableTarget":
        request = json.loads(body)
        name = f"{request['ResourceId']}|{request['ScalableDimension']}|{request['ServiceNamespace']}"
        _targets[name] = {**_targets[name], **request}
        conductor.add_target(template.service_of(_targets[name]), template.target(_targets[name]))
        return responses.json_response({})
    return responses.error_response_json("UnknownOperationException", action, 400)


def _describe_target(target: Mapping[str, Any]) -> dict[str, Any]:
    names = ("ServiceNamespace", "ResourceId", "ScalableDimension", "SuspendedState")
    bounds = {name: int(target[name]) for name in ("MinCapacity", "MaxCapacity")}
    return {
        **{name: target[name] for name in names if name in target},
        **bounds,
        "RoleARN": target.get("RoleARN", ""),
        "CreationTime": 0,
    }


def _describe_policy(arn: str, policy: Mapping[str, Any]) -> dict[str, Any]:
    target = _target_of(policy)
    return {
        "PolicyARN": arn,
        "PolicyName": policy["PolicyName"],
        "PolicyType": policy["PolicyType"],
        "ServiceNamespace": target["ServiceNamespace"],
        "ResourceId": target["ResourceId"],
        "ScalableDimension": target["ScalableDimension"],
        "StepScalingPolicyConfiguration": policy["StepScalingPolicyConfiguration"],
        "CreationTime": 0,
    }
