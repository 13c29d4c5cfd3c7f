"""CloudFormation resource types that the emulator does not know and that need no behaviour on a laptop."""

from collections.abc import Mapping
from typing import Any

from ministack.core.responses import new_uuid
from ministack.services.cloudformation import provisioners

#: What they are for on AWS is network paths, flow logs and console queries: nothing that a local process meets.
INERT = (
    "AWS::EC2::EIP",
    "AWS::EC2::FlowLog",
    "AWS::EC2::NatGateway",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::ECS::ClusterCapacityProviderAssociations",
    "AWS::Logs::QueryDefinition",
)


def seed_secrets(secretsmanager: Any, values: Mapping[str, str]) -> None:
    """Store secrets under the very ARNs that the template imports; the API would choose their last six characters."""
    for arn, value in values.items():
        name = arn.rpartition(":")[2].rpartition("-")[0]
        secretsmanager._store_new_secret(name, secret_string=value)
        secretsmanager._secrets[name]["ARN"] = arn


def install() -> None:
    """Register a handler for each type that the emulator has none for, and let containers have their secrets."""
    normalize = provisioners._normalize_container_defs

    def with_secrets(containers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        # The emulator keeps a template's Name and ValueFrom, but resolves name and valueFrom.
        normalized: list[dict[str, Any]] = normalize(containers)
        for container in normalized:
            container["secrets"] = [
                {"name": secret["Name"], "valueFrom": secret["ValueFrom"]} for secret in container.get("secrets", ())
            ]
        return normalized

    provisioners._normalize_container_defs = with_secrets
    for resource_type in INERT:
        provisioners._RESOURCE_HANDLERS.setdefault(
            resource_type, {"create": _create, "update": _update, "delete": _delete}
        )


def _create(logical_id: str, properties: Mapping[str, Any], stack: str) -> tuple[str, dict[str, str]]:
    physical_id = f"{stack}-{logical_id}-{new_uuid()[:8]}"
    return physical_id, {"AllocationId": physical_id, "Id": physical_id, "NatGatewayId": physical_id}


def _update(physical_id: str, old: Mapping[str, Any], new: Mapping[str, Any], stack: str) -> tuple[str, dict[str, str]]:
    return physical_id, {"AllocationId": physical_id, "Id": physical_id, "NatGatewayId": physical_id}


def _delete(physical_id: str, properties: Mapping[str, Any]) -> None:
    """Nothing was made, so nothing is to be undone."""
