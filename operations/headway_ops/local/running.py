"""A local stage that runs: where its parts answer, for this process or another."""

import dataclasses
import json
import os
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from headway.contract import DatabaseSecret, OwnerSecret
from headway_ops.local import aws
from headway_ops.local.emulator.config import EmulatorConfig
from headway_ops.local.errors import UnreachableError
from headway_ops.local.ports import LOOPBACK, answers
from headway_ops.local.project import PROJECT

_RECORD = "stage.json"


def directory_of(stage: str) -> Path:
    """Return where a local stage keeps its files: under HEADWAY_STATE, or in the checkout."""
    return Path(os.environ.get("HEADWAY_STATE") or PROJECT / ".local") / stage


@dataclass(frozen=True, kw_only=True)
class LocalStage:
    """A running local stage: where its parts answer."""

    name: str
    emulator: EmulatorConfig
    database: DatabaseSecret
    owner: OwnerSecret
    model_port: int
    web_token: str
    deploy_s: float

    @property
    def web_url(self) -> str:
        """Where the stage's web service answers: its load balancer."""
        return f"http://{LOOPBACK}:{self.emulator.web_port}"

    def client(self, service: str) -> Any:
        """Return a boto3 client of the emulated account."""
        return aws.client(service, self.emulator)

    def model_usage(self) -> dict[str, Any]:
        """Return the model's calls in flight and their peak, quota and samples.

        Raises:
            UnreachableError: the model does not answer.
        """
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self.model_port}/usage", timeout=5
            ) as answer:  # our own loopback
                usage: dict[str, Any] = json.load(answer)
                return usage
        except OSError as error:
            raise UnreachableError(f"the model server does not answer: {error}") from None

    def events(self) -> list[dict[str, Any]]:
        """Return what happened to alarms, services and tasks so far, oldest first."""
        if not self.emulator.events.exists():
            return []
        return [json.loads(line) for line in self.emulator.events.read_text(encoding="utf-8").splitlines()]

    def enter(self) -> None:
        """Make this process one of the emulated account's: its AWS clients talk to the emulator from now on."""
        os.environ.update(aws.environment(self.emulator))

    @staticmethod
    def erase(directory: Path) -> None:
        """Take back what ``record`` wrote; a stage that wrote nothing is fine."""
        (directory / _RECORD).unlink(missing_ok=True)

    def record(self) -> None:
        """Write the stage down, for commands that run beside it."""
        path = Path(self.emulator.directory) / _RECORD
        path.touch(mode=0o600)
        path.write_text(json.dumps(dataclasses.asdict(self)), encoding="utf-8")

    @classmethod
    def attach(cls, stage: str) -> Self | None:
        """Return the local stage of that name where one is running, else None."""
        path = directory_of(stage) / _RECORD
        if not path.exists():
            return None
        record = json.loads(path.read_text(encoding="utf-8"))
        record["emulator"] = EmulatorConfig(**record["emulator"])
        record["database"] = DatabaseSecret(**record["database"])
        record["owner"] = OwnerSecret(**record["owner"])
        running = cls(**record)
        return running if answers(running.emulator.port) else None
