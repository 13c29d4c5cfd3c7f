"""``make image-test``: builds the worker image, runs a message through it, and stops it; out/image/report.json.

Skipped with one line where this machine cannot build one. The bill of materials is written all the same.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headway.jobs import StepStatus
from headway_ops.local.interrupts import raise_on_signals
from headway_ops.local.postgres import postgres
from tests.image import buildah, container
from tests.image.sbom import bill_of_materials
from tests.runtime.support.emulator import emulated_aws
from tests.runtime.support.model import ModelServer
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import KEYS, Stage, Worker
from tests.runtime.support.waiting import until
from tests.synth import ROOT

_OUT = ROOT / "out" / "image"
#: Wall seconds: ECS's default, which the worker is told.
_STOP_TIMEOUT_S = 30

Report = dict[str, object]


def main() -> int:
    """Return 0 where the image did all that is asked of it, or where none can be built; 1 otherwise."""
    raise_on_signals()
    _OUT.mkdir(parents=True, exist_ok=True)
    bill = bill_of_materials(ROOT / "runtime" / "requirements.txt")
    (_OUT / "sbom.json").write_text(bill, encoding="utf-8")
    lacking = buildah.lacking()
    if lacking:
        sys.stderr.write(f"image-test: skipped: {lacking}\n")
        return 0
    report: Report = {"components": len(json.loads(bill)["components"])}
    began = time.monotonic()
    image = buildah.build(_OUT)
    report["build_s"] = round(time.monotonic() - began, 1)
    try:
        with _stage() as stage:
            report |= _exercise(stage, image)
    finally:
        buildah.discard(_OUT)
    text = json.dumps(report, indent=2) + "\n"
    (_OUT / "report.json").write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0 if all(value is not False for value in report.values()) else 1


@contextmanager
def _stage() -> Iterator[Stage]:
    model = ModelServer()
    with (
        tempfile.TemporaryDirectory(prefix="headway-image-") as folder,
        postgres(Path(folder) / "postgres") as database,
        emulated_aws(Path(folder)) as endpoint,
        serving(model),
    ):
        database.upgrade()
        os.environ |= {"AWS_ENDPOINT_URL": endpoint, **KEYS}
        yield Stage(endpoint, database.secret, model, Path(folder))


def _exercise(stage: Stage, image: buildah.Image) -> Report:
    """Run the image's own command: one message, its health check, what it cannot write, and SIGTERM."""
    with stage.worker(command=container.command(image), stop_timeout_s=_STOP_TIMEOUT_S) as worker:
        worker.wait_until_ready()
        step = stage.pending_step()
        stage.send_step(step)
        until(lambda: stage.step_status(step) == StepStatus.SUCCEEDED, within_s=60, what="step succeeded")
        found: Report = {
            "message": True,
            "uid": _uid(worker) == 10_001,
            "healthy": _inside(image, worker, "python", "-m", "headway.worker.liveness") == "",
            "read_only": "Read-only file system" in _inside(image, worker, "touch", "/app/headway/mark"),
            "tmp_is_writable": _inside(image, worker, "touch", "/tmp/mark") == "",
        }
        began = time.monotonic()
        code = worker.terminate(within_s=_STOP_TIMEOUT_S)
        return found | {"sigterm": code == 0, "sigterm_s": round(time.monotonic() - began, 1)}


def _uid(worker: Worker) -> int:
    return Path(f"/proc/{worker.process.pid}").stat().st_uid


def _inside(image: buildah.Image, worker: Worker, *arguments: str) -> str:
    """Run a command beside the worker; return what it complains of, or how it failed without a word."""
    beside = container.beside(image, worker.process.pid, arguments)
    run = subprocess.run(beside, capture_output=True, text=True, check=False)
    return run.stderr or (f"exit code {run.returncode}" if run.returncode else "")


if __name__ == "__main__":
    sys.exit(main())
