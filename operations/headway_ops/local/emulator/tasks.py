"""One task: a local process with the life of a Fargate task."""

import signal
import subprocess
from collections.abc import Mapping
from typing import Any

from ministack.services import ecs

from headway_ops.local.emulator.config import EmulatorConfig
from headway_ops.local.emulator.launcher import address_of, command_of, environment_of, stop_timeout_of, writable_of
from headway_ops.local.emulator.stage_time import StageTime
from headway_ops.local.emulator.tail import Tail
from headway_ops.local.processes import Ledger, signal_group, spawn
from headway_ops.loop import Task, TaskState

#: A process gets no less than this in wall seconds to stop, however fast the stage runs.
_MIN_STOP_WALL_S = 12.0


class LocalTask:
    """A task between its start and its end; ``due`` is when its process starts, in stage seconds."""

    def __init__(
        self,
        *,
        arn: str,
        service: str,
        definition: Mapping[str, Any],
        config: EmulatorConfig,
        ledger: Ledger,
        due: float,
    ) -> None:
        self.id = arn.rpartition("/")[2]
        self.service = service
        self.state = TaskState.STARTING
        self.stop_asked = False
        self.killed = False
        self.exit_code: int | None = None
        self.failure = ""
        self._container = definition["containerDefinitions"][0]
        self.address = address_of(self._container)
        self._revision = definition["taskDefinitionArn"]
        self._config = config
        self._ledger = ledger
        self._due = due
        self._log = config.logs / f"{service.rpartition('/')[2]}-{self.id[:8]}.log"
        self._printed = Tail(self._log)
        self._process: subprocess.Popen[bytes] | None = None
        self._kill_at = 0.0

    def seen(self, arn: str) -> Task:
        """Return the task as the service scheduler sees it."""
        return Task(id=arn, revision=self._revision, state=self.state, started=self._due)

    def printed(self) -> list[str]:
        """Return the lines that the task has printed since the last look."""
        return self._printed.lines()

    def terminate(self, clock: StageTime) -> None:
        """Send SIGTERM to the container's first process, as ECS does; SIGKILL follows after the stop timeout."""
        self.state = TaskState.STOPPING
        self.stop_asked = True
        timeout = stop_timeout_of(self._container)
        self._kill_at = clock.now() + max(timeout, _MIN_STOP_WALL_S * clock.speed)
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)

    def advance(self, clock: StageTime) -> bool:
        """Start, kill or bury the process where its time has come; return whether the task's state changed."""
        if self._process is None:
            return self._launch(clock)
        self.exit_code = self._process.poll()
        if self.exit_code is not None:
            signal_group(self._process, signal.SIGKILL)
            self.state = TaskState.STOPPING
            return True
        if self.state is TaskState.STOPPING and clock.now() >= self._kill_at:
            self.killed = True
            signal_group(self._process, signal.SIGKILL)
        return False

    def _launch(self, clock: StageTime) -> bool:
        if self.state is TaskState.STOPPING:
            return True
        if clock.now() < self._due:
            return False
        try:
            secret_values = ecs._resolve_container_secrets(self._container)
        except ecs._SecretResolutionError as error:
            # As on ECS, the container is not started without a secret that its definition names.
            self.failure = f"ResourceInitializationError: {error}"
            self.state = TaskState.STOPPING
            return True
        writable_of(self.id, self._config).mkdir(parents=True)
        self._process = spawn(
            command_of(self._container, self._config),
            env=environment_of(self._container, secret_values, self.id, self._config, self.address),
            log=self._log,
            ledger=self._ledger,
        )
        self.state = TaskState.RUNNING
        return True
