"""Is every secret there that a container is to be given? Their values are not looked at."""

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from headway_ops.deployed import DeployedService
from headway_ops.doctor.finding import Finding

#: The parts of a secret's own ARN; a container's valueFrom goes on with :key:stage:version
#: (ECS developer guide, "Specifying sensitive data using Secrets Manager").
_PARTS = 7


def check_secrets(secretsmanager: Any, services: Mapping[str, DeployedService]) -> Iterator[Finding]:
    """Yield a finding for each secret that is gone, or is to go."""
    for where, service in services.items():
        for arn in sorted({arn_of(source) for source in service.serving.secrets.values()}):
            if problem := problem_of(secretsmanager, arn):
                yield Finding("secret-missing", where, f"{arn} {problem}: no new task can start")


def arn_of(source: str) -> str:
    """Return the ARN of the secret that a container's valueFrom names a key of."""
    return ":".join(source.split(":")[:_PARTS])


def problem_of(secretsmanager: Any, arn: str) -> str:
    """Return what is wrong with a secret, empty where it is there to stay."""
    try:
        found = secretsmanager.describe_secret(SecretId=arn)
    except ClientError as error:
        if error.response["Error"]["Code"] == "ResourceNotFoundException":
            return "does not exist"
        raise
    return "is scheduled for deletion" if found.get("DeletedDate") else ""
