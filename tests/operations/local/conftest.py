"""An emulated account that the tests of this folder share."""

import sys
from collections.abc import Iterator

import pytest

from headway_ops.local.aws import emulator
from headway_ops.local.emulator.config import EmulatorConfig
from headway_ops.local.ports import free_port

SECRET_ARN = "arn:aws:secretsmanager:us-east-1:000000000000:secret:headway/test/key-aaaaaa"


@pytest.fixture(scope="session")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorConfig]:
    """A running emulator at speed 60: a stage minute is a second, a task starts within one."""
    config = EmulatorConfig(
        account="000000000000",
        region="us-east-1",
        port=free_port(),
        agent_port=free_port(),
        web_port=free_port(),
        speed=60,
        task_start_min_s=6,
        task_start_max_s=12,
        schedule_min_wall_s=0.0,
        seed=1,
        python=sys.executable,
        hosts={"model.test": "127.0.0.1:9"},
        secrets={SECRET_ARN: '{"api_key": "s3cret"}'},
        directory=str(tmp_path_factory.mktemp("account")),
    )
    with emulator(config):
        yield config
