"""The AWS emulator alone: queues and a bucket, without the local stage's ECS."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from headway_ops.local.ports import answers, free_port
from headway_ops.local.processes import Ledger, spawn, stop
from headway_ops.local.project import PROJECT
from tests.runtime.support.waiting import until


@contextlib.contextmanager
def emulated_aws(directory: Path, *, authorizing: bool = False) -> Iterator[str]:
    """Run the emulator with its files in ``directory`` and yield its endpoint.

    ``authorizing``: it holds every request against the caller's policies; the key ``test`` is the account's root. It
    speaks TLS then, with a certificate of its own (`certificate`), because the queues deny whatever comes without.
    """
    port = free_port()
    settings = {"GATEWAY_PORT": str(port), "BIND_HOST": "127.0.0.1", "SFTP_ENABLED": "0", "LOG_LEVEL": "WARNING"}
    if authorizing:
        settings |= {"AUTH": "true", "USE_SSL": "1", "TMPDIR": str(directory)}
    process = spawn(
        [PROJECT / ".emulator" / "bin" / "python", "-m", "ministack"],
        env={"PATH": os.defpath, **settings},
        log=directory / "emulator.log",
        ledger=Ledger(directory / "processes"),
        cwd=directory,
    )
    try:
        until(lambda: answers(port), what="emulator")
        yield f"{'https' if authorizing else 'http'}://127.0.0.1:{port}"
    finally:
        stop(process)


def certificate(directory: Path) -> Path:
    """Return what an authorizing emulator with its files in ``directory`` is to be trusted by."""
    return directory / "ministack-tls" / "server.crt"
