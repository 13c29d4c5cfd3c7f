"""What a deployed stage says about itself: the outputs of its stacks."""

import json
from typing import Any

from headway.contract import DatabaseSecret, ProducerEnv


def producer_environment(cloudformation: Any, stage: str) -> ProducerEnv:
    """Return the environment that a stage's producer stack gives to a sender."""
    return ProducerEnv.from_env(json.loads(_outputs(cloudformation, stage)["ProducerEnvironment"]))


def database_secret(cloudformation: Any, secretsmanager: Any, stage: str) -> DatabaseSecret:
    """Return what a stage's database secret holds."""
    arn = _outputs(cloudformation, stage)["DatabaseSecretArn"]
    values = json.loads(secretsmanager.get_secret_value(SecretId=arn)["SecretString"])
    return DatabaseSecret(
        host=values["host"],
        port=int(values["port"]),
        dbname=values["dbname"],
        username=values["username"],
        password=values["password"],
    )


def _outputs(cloudformation: Any, stage: str) -> dict[str, str]:
    stack = cloudformation.describe_stacks(StackName=f"headway-{stage}-producer")["Stacks"][0]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
