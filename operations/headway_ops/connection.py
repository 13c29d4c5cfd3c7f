"""Where is a stage? On this machine where a local one runs, else in the account that the credentials point to."""

from dataclasses import dataclass

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from headway.contract import DatabaseSecret, ProducerEnv
from headway_ops.local.errors import UnreachableError
from headway_ops.local.running import LocalStage
from headway_ops.outputs import database_secret, producer_environment
from stacks.loading import load_stage


@dataclass(frozen=True, kw_only=True)
class Connection:
    """What a command needs to submit to a stage and to read its jobs."""

    producer: ProducerEnv
    database: DatabaseSecret


def connection_to(stage: str) -> Connection:
    """Return the way to a stage.

    Raises:
        SettingsError: there is no such stage.
        UnreachableError: it is not running, or not deployed where the credentials point.
    """
    settings = load_stage(stage)
    if running := LocalStage.attach(stage):
        running.enter()
        return Connection(
            producer=producer_environment(running.client("cloudformation"), stage), database=running.database
        )
    if settings.laptop is not None:
        raise UnreachableError(f"stage {stage} is not running: headway up --stage {stage} starts it")
    session = boto3.session.Session(region_name=settings.region)
    cloudformation, secretsmanager = session.client("cloudformation"), session.client("secretsmanager")
    try:
        return Connection(
            producer=producer_environment(cloudformation, stage),
            database=database_secret(cloudformation, secretsmanager, stage),
        )
    except (BotoCoreError, ClientError) as error:
        raise UnreachableError(f"stage {stage} cannot be reached: {error}") from None
