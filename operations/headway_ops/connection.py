"""Where is a stage? On this machine where a local one runs, else in the account that the credentials point to."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any, TypeVar

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from headway.contract import DatabaseSecret, OwnerSecret, ProducerEnv, ReconcilerEnv
from headway_ops import outputs
from headway_ops.deployed import DeployedStage
from headway_ops.local.errors import UnreachableError
from headway_ops.local.running import LocalStage
from stacks.loading import load_stage

T = TypeVar("T")


class Connection:
    """What commands need of a stage, each looked up when it is first asked for: not everybody may read everything.

    Raises:
        UnreachableError: from each property, where it cannot be read.
    """

    def __init__(
        self, stage: str, client: Callable[[str], Any], *, speed: float = 1.0, answered: Mapping[str, str] | None = None
    ) -> None:
        self._stage, self._client, self.speed, self._answered = stage, cache(client), speed, answered or {}

    @cached_property
    def producer(self) -> ProducerEnv:
        """What a sender is told."""
        return self._reached(lambda: outputs.producer_environment(self._client("cloudformation"), self._stage))

    @cached_property
    def reconciler(self) -> ReconcilerEnv:
        """What the reconciler is told."""
        env = self._reached(lambda: outputs.reconciler_environment(self._client("cloudformation"), self._stage))
        return dataclasses.replace(env, speed=self.speed)

    @cached_property
    def database(self) -> DatabaseSecret:
        """The way to its jobs."""
        clients = (self._client("cloudformation"), self._client("secretsmanager"))
        return self._reached(lambda: outputs.database_secret(*clients, self._stage))

    @cached_property
    def owner(self) -> OwnerSecret:
        """What migrates its jobs."""
        clients = (self._client("cloudformation"), self._client("secretsmanager"))
        return self._reached(lambda: outputs.owner_secret(*clients, self._stage))

    def deployed(self) -> DeployedStage:
        """Return a new look at the stage as AWS has it; read it in a block of ``reading``."""
        return DeployedStage(self._stage, self._client, self._answered)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Say that the stage cannot be reached, where what is read inside the block cannot.

        Raises:
            UnreachableError: AWS refused a call, or does not answer.
        """
        try:
            yield
        except (BotoCoreError, ClientError) as error:
            raise UnreachableError(f"stage {self._stage} cannot be reached: {error}") from None

    def _reached(self, read: Callable[[], T]) -> T:
        with self.reading():
            return read()


def connection_to(stage: str) -> Connection:
    """Return the way to a stage.

    Raises:
        SettingsError: there is no such stage.
        UnreachableError: it is a local one and does not run.
    """
    settings = load_stage(stage)
    if running := LocalStage.attach(stage):
        running.enter()
        emulator = running.emulator
        return Connection(stage, running.client, speed=emulator.speed, answered=emulator.hosts)
    if settings.laptop is not None:
        raise UnreachableError(f"stage {stage} is not running: headway up --stage {stage} starts it")
    session = boto3.session.Session(region_name=settings.region)
    return Connection(stage, lambda service: session.client(service))  # type: ignore[call-overload]  # any service
