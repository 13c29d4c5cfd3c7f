"""An emulated account for a test."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headway_ops.local import aws
from headway_ops.local.emulator.config import EmulatorConfig
from headway_ops.local.ports import free_port


@contextmanager
def emulated_account(folder: Path, **changes: Any) -> Iterator[EmulatorConfig]:
    """Run an emulator at speed 60, its files in a folder; ``changes`` are to a configuration that knows no secrets."""
    values: dict[str, Any] = {
        "account": "000000000000",
        "region": "us-east-1",
        "port": free_port(),
        "agent_port": free_port(),
        "web_port": free_port(),
        "speed": 60,
        "task_start_min_s": 0,
        "task_start_max_s": 0,
        "schedule_min_wall_s": 0.0,
        "seed": 1,
        "python": sys.executable,
        "hosts": {},
        "secrets": {},
        "directory": str(folder),
    }
    config = EmulatorConfig(**{**values, **changes})
    with aws.emulator(config):
        yield config
