"""Runs the ``headway`` command as people do."""

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import psutil

from headway_ops.local.running import LocalStage

HEADWAY = Path(sys.executable).with_name("headway")


def headway(*arguments: str | Path, state: Path, within_s: float = 200) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, its local stages under ``state``."""
    return subprocess.run(
        [HEADWAY, *arguments],
        env=environment(state),
        capture_output=True,
        text=True,
        timeout=within_s,
        cwd=state,
        check=False,
    )


def environment(state: Path) -> dict[str, str]:
    """The command's environment: no AWS credentials, no display."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    nowhere = {
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    return {**kept, **nowhere, "HEADWAY_STATE": str(state), "NO_COLOR": "1", "COLUMNS": "160"}


def attach(state: Path) -> LocalStage:
    """Return the local stage that runs under ``state``."""
    with patch.dict(os.environ, HEADWAY_STATE=str(state)):
        running = LocalStage.attach("local")
    assert running is not None
    return running


def left_over(state: Path) -> list[str]:
    """Return the command lines of processes that belong to a stage under ``state``."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline", "environ", "cwd"]):
        about = (process.info["cmdline"], process.info["environ"], process.info["cwd"])
        if process.pid != os.getpid() and str(state) in repr(about) and process.status() != psutil.STATUS_ZOMBIE:
            found.append(" ".join(process.info["cmdline"] or ()))
    return found
