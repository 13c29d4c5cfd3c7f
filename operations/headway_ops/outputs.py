"""What a deployed stage says about itself: the outputs of its stacks."""

import json
from typing import Any

from headway.contract import DatabaseSecret, OwnerSecret, ProducerEnv, ReconcilerEnv


def producer_environment(cloudformation: Any, stage: str) -> ProducerEnv:
    """Return the environment that a stage's producer stack gives to a sender."""
    return ProducerEnv.from_env(json.loads(_outputs(cloudformation, stage, "producer")["ProducerEnvironment"]))


def reconciler_environment(cloudformation: Any, stage: str) -> ReconcilerEnv:
    """Return the environment that a stage's consumer stack gives to the reconciler."""
    return ReconcilerEnv.from_env(json.loads(_outputs(cloudformation, stage, "consumer")["ReconcilerEnvironment"]))


def database_secret(cloudformation: Any, secretsmanager: Any, stage: str) -> DatabaseSecret:
    """Return what a stage's database secret holds."""
    return database_secret_at(secretsmanager, _outputs(cloudformation, stage, "producer")["DatabaseSecretArn"])


def database_secret_at(secretsmanager: Any, arn: str) -> DatabaseSecret:
    """Return what the database secret of an ARN holds."""
    values = _secret(secretsmanager, arn)
    return DatabaseSecret(
        host=values["host"],
        port=int(values["port"]),
        dbname=values["dbname"],
        username=values["username"],
        password=values["password"],
    )


def owner_secret(cloudformation: Any, secretsmanager: Any, stage: str) -> OwnerSecret:
    """Return what a stage's secret for migrations holds."""
    values = _secret(secretsmanager, _outputs(cloudformation, stage, "consumer")["DatabaseOwnerSecretArn"])
    return OwnerSecret(username=values["username"], password=values["password"])


def _secret(secretsmanager: Any, arn: str) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(secretsmanager.get_secret_value(SecretId=arn)["SecretString"])
    return values


def _outputs(cloudformation: Any, stage: str, stack: str) -> dict[str, str]:
    described = cloudformation.describe_stacks(StackName=f"headway-{stage}-{stack}")["Stacks"][0]
    return {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}
