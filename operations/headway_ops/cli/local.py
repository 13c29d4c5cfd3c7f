"""``headway up`` and ``headway down``: a local stage that keeps running."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from headway_ops.cli.options import Json, Speed, Stage
from headway_ops.cli.view import narrate
from headway_ops.local.errors import StageError, UnreachableError
from headway_ops.local.running import LocalStage, directory_of
from stacks.loading import load_stage

_UP_WITHIN_S = 180.0
_DOWN_WITHIN_S = 30.0


def up(stage: Stage = "local", speed: Speed = None, as_json: Json = False) -> None:
    """Start a local stage and leave it running."""
    settings = load_stage(stage)
    if settings.laptop is None:
        raise StageError(f"stage = {stage!r}: has no [stages.{stage}.laptop] table; use --stage local")
    if LocalStage.attach(stage):
        raise StageError(f"stage {stage} is running already: headway down --stage {stage} ends it")
    log = _log(stage)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        keeper = subprocess.Popen(  # noqa: S603  # our own interpreter and module
            [sys.executable, "-m", "headway_ops.local.keeper", stage, str(speed or settings.laptop.speed)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _pid(stage).write_text(str(keeper.pid), encoding="ascii")
    running = _wait_until_up(stage, keeper, log)
    narrate(f"stage {stage} is up: AWS at {running.emulator.endpoint}, its files in {running.emulator.directory}")
    narrate(f"its page is at {running.web_url}, its token {running.web_token}")
    if as_json:
        where = {
            "stage": stage,
            "endpoint": running.emulator.endpoint,
            "directory": running.emulator.directory,
            "web": running.web_url,
            "token": running.web_token,
        }
        sys.stdout.write(json.dumps(where) + "\n")


def down(stage: Stage = "local") -> None:
    """End a local stage that was left running; without one, nothing is done."""
    load_stage(stage)
    running, pid_file = LocalStage.attach(stage), _pid(stage)
    if not pid_file.exists():
        narrate(f"stage {stage} is not running" if running is None else f"stage {stage} belongs to another command")
        return
    pid = int(pid_file.read_text(encoding="ascii"))
    pid_file.unlink()
    if running is None:
        narrate(f"stage {stage} is not running")
        return
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _DOWN_WITHIN_S
    while LocalStage.attach(stage):
        if time.monotonic() > deadline:
            raise UnreachableError(f"stage {stage} did not end within {_DOWN_WITHIN_S:.0f} s; see {_log(stage)}")
        time.sleep(0.1)
    narrate(f"stage {stage} is down")


def _wait_until_up(stage: str, keeper: "subprocess.Popen[bytes]", log: Path) -> LocalStage:
    told = 0
    deadline = time.monotonic() + _UP_WITHIN_S
    while time.monotonic() < deadline:
        lines = log.read_text(encoding="utf-8").splitlines()
        for text in lines[told:]:
            sys.stderr.write(text + "\n")
        told = len(lines)
        if running := LocalStage.attach(stage):
            return running
        if code := keeper.poll():
            raise SystemExit(code)
        time.sleep(0.1)
    keeper.terminate()
    raise UnreachableError(f"stage {stage} did not come up within {_UP_WITHIN_S:.0f} s; see {log}")


def _log(stage: str) -> Path:
    return directory_of(stage).with_suffix(".log")


def _pid(stage: str) -> Path:
    return directory_of(stage).with_suffix(".pid")
