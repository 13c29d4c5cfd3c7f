"""What the stage tells the emulator's process, as one JSON file that a variable names."""

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

VARIABLE = "HEADWAY_LOCAL"


@dataclass(frozen=True, kw_only=True)
class EmulatorConfig:
    """How the emulator plays its part; durations are stage seconds, paths absolute.

    ``hosts`` maps host names that the template uses to the loopback addresses that answer for them, ``secrets`` the
    ARNs that it imports to the values behind them.
    ``python`` is the interpreter that stands for the image's, ``web_port`` where the load balancer answers.
    """

    account: str
    region: str
    port: int
    agent_port: int
    web_port: int
    speed: float
    task_start_min_s: float
    task_start_max_s: float
    schedule_min_wall_s: float
    seed: int
    python: str
    hosts: Mapping[str, str]
    secrets: Mapping[str, str]
    directory: str

    @property
    def endpoint(self) -> str:
        """The address that stands for every AWS endpoint."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def events(self) -> Path:
        """Where what happens is written, one JSON object a line."""
        return Path(self.directory) / "events.jsonl"

    @property
    def logs(self) -> Path:
        """Where the tasks' output goes, a file a task."""
        return Path(self.directory) / "tasks"

    @property
    def ledger(self) -> Path:
        """Where the stage's processes are written down."""
        return Path(self.directory) / "processes"

    def write(self, path: Path) -> None:
        """Write the configuration for ``read``."""
        path.touch(mode=0o600)
        path.write_text(json.dumps(dataclasses.asdict(self), indent=2), encoding="utf-8")

    @classmethod
    def read(cls) -> Self:
        """Return the configuration that the process was started with."""
        return cls(**json.loads(Path(os.environ[VARIABLE]).read_text(encoding="utf-8")))
