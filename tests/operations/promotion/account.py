"""An emulated account in which no task is ever started."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headway_ops.local import aws
from headway_ops.local.emulator.config import EmulatorConfig
from headway_ops.local.ports import free_port


@contextmanager
def bare_account(folder: Path) -> Iterator[EmulatorConfig]:
    """Run an emulator, its files in a folder."""
    config = EmulatorConfig(
        account="000000000000",
        region="us-east-1",
        port=free_port(),
        agent_port=free_port(),
        web_port=free_port(),
        speed=60,
        task_start_min_s=0,
        task_start_max_s=0,
        schedule_min_wall_s=0.0,
        seed=1,
        python=sys.executable,
        hosts={},
        secrets={},
        directory=str(folder),
    )
    with aws.emulator(config):
        yield config
