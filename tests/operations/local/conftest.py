"""An emulated account that the tests of this folder share."""

from collections.abc import Iterator

import pytest

from headway_ops.local.emulator.config import EmulatorConfig
from tests.operations.account import emulated_account

SECRET_ARN = "arn:aws:secretsmanager:us-east-1:000000000000:secret:headway/test/key-aaaaaa"


@pytest.fixture(scope="session")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorConfig]:
    """A running emulator at speed 60: a stage minute is a second, a task starts within one."""
    with emulated_account(
        tmp_path_factory.mktemp("account"),
        task_start_min_s=6,
        task_start_max_s=12,
        hosts={"model.test": "127.0.0.1:9"},
        secrets={SECRET_ARN: '{"api_key": "s3cret"}'},
    ) as config:
        yield config
