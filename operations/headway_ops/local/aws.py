"""The emulated AWS account of one stage: a process of its own, in its own environment, on free loopback ports."""

import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from headway_ops.local.emulator import config as emulator_config
from headway_ops.local.errors import StageError, UnreachableError
from headway_ops.local.processes import Ledger, spawn, stop
from headway_ops.local.project import PROJECT, SOURCE_ROOTS

_START_WITHIN_S = 30.0


@contextmanager
def emulator(settings: emulator_config.EmulatorConfig) -> Iterator[subprocess.Popen[bytes]]:
    """Run the emulator as ``settings`` say.

    Raises:
        StageError: its environment is missing.
        UnreachableError: it does not come up.
    """
    python = PROJECT / ".emulator" / "bin" / "python"
    if not python.exists():
        raise StageError("the AWS emulator is missing: run make setup")
    directory = Path(settings.directory)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "emulator.json"
    settings.write(path)
    log = directory / "emulator.log"
    process = spawn(
        [python, "-m", "headway_ops.local.emulator"],
        env=_environment(settings, path),
        log=log,
        ledger=Ledger(settings.ledger),
        cwd=directory,
    )
    try:
        _wait_until_up(process, settings.endpoint, log)
        yield process
    finally:
        stop(process, number=signal.SIGTERM)


def client(service: Any, settings: emulator_config.EmulatorConfig) -> Any:
    """Return the boto3 client of a service by its name, for the emulator and nothing else."""
    return boto3.client(
        service,
        endpoint_url=settings.endpoint,
        config=Config(connect_timeout=2, read_timeout=30, retries={"max_attempts": 2}),
        **credentials(settings),
    )


def credentials(settings: emulator_config.EmulatorConfig) -> dict[str, Any]:
    """Return boto3's arguments for the emulated account; the emulator takes a key's digits for the account."""
    return {
        "region_name": settings.region,
        "aws_access_key_id": settings.account,
        "aws_secret_access_key": "local",
    }


def environment(settings: emulator_config.EmulatorConfig) -> dict[str, str]:
    """Return the variables that point a process's AWS calls at the emulator."""
    return {
        "AWS_ENDPOINT_URL": settings.endpoint,
        "AWS_REGION": settings.region,
        "AWS_DEFAULT_REGION": settings.region,
        "AWS_ACCESS_KEY_ID": settings.account,
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def _environment(settings: emulator_config.EmulatorConfig, path: Path) -> dict[str, str]:
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "HOME": settings.directory,
        "TMPDIR": settings.directory,
        "PYTHONPATH": os.pathsep.join(str(root) for root in SOURCE_ROOTS),
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(settings.port),
        "MINISTACK_HOST": "127.0.0.1",
        "MINISTACK_ACCOUNT_ID": settings.account,
        "MINISTACK_REGION": settings.region,
        "SFTP_ENABLED": "0",
        "IOT_MTLS_ENABLED": "0",
        "LOG_LEVEL": "WARNING",
        "HEADWAY_SPEED": str(settings.speed),
        emulator_config.VARIABLE: str(path),
    }


def _wait_until_up(process: subprocess.Popen[bytes], endpoint: str, log: Path) -> None:
    deadline = time.monotonic() + _START_WITHIN_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{endpoint}/_ministack/health", timeout=2):  # noqa: S310  # our own loopback
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise UnreachableError(f"the AWS emulator did not start; see {log}")
