"""When do jobs end that nobody wants? Goals: abandoned ones after 60 to 62 minutes, no call a second after a cancel.

On a local stage at sixty times true speed jobs are canceled whose calls are in flight or stand in line for the quota,
and the model server's own log says which call began last. On another, at fifteen times, abandoned jobs are ended by the
stage's own schedule: slower, because the wall second in which a reconciler's process starts is a minute at sixty.
Reconcilers whose clocks are twelve hours off run beside it, and a job whose only sign of life is a worker's beat must
live. Stage time, but for what is said to be wall time.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from headway.contract import ReconcilerEnv
from headway.jobs import Claim, JobStatus, StepStatus, cancel_job, claim_step, connect, job_view, renew_claim
from headway.jobs.lifecycle import NewBlock, begin_job, create_job, pending_steps, save_blocks
from headway.producer import Producer
from headway_ops.cli.view import narrate
from headway_ops.connection import connection_to
from headway_ops.demo.drawings import draw
from headway_ops.local.interrupts import raise_on_signals
from headway_ops.local.project import PROJECT
from headway_ops.local.running import LocalStage
from headway_ops.local.stage import local_stage
from stacks.loading import load_stage
from tests.runtime.support.waiting import until
from tests.synth import varied

REPORT = PROJECT / "out" / "cancel" / "report.json"
CANCEL_SPEED, ABANDON_SPEED = 60.0, 15.0
ABANDONED, CANCELED = 5, 6
IDLE_MIN, GOAL_MIN, GOAL_S = 60.0, 62.0, 1.0
#: Wall seconds until everything that a cancel stops has been written down.
_SETTLED_WALL_S = 3.0
#: A clock that is so many hours off, for whatever Python asks it.
_SKEW = "import time; _true = time.time; time.time = lambda: _true() + {hours} * 3600.0"


def held_job(engine: sa.Engine) -> Claim:
    """Return the claim on the one step of a new job; nothing is sent."""
    job = uuid.uuid4()
    create_job(engine, job_id=job, name="abandoned.png", drawing_key="none")
    begin_job(engine, job)
    save_blocks(engine, job, [NewBlock(number=1, page=1, box=(0, 0, 9, 9), image_key="none")], ["bars"])
    (step,) = pending_steps(engine, job) or ()
    claim = claim_step(engine, step, lease_s=600.0)
    assert isinstance(claim, Claim)
    return claim


@contextmanager
def skewed_reconcilers(stage: LocalStage, env: ReconcilerEnv) -> Iterator[None]:
    """Run reconcilers one after the other, beside the schedule's, with clocks that are twelve hours off either way."""
    running = []
    for hours in (-12, 12):
        path = Path(stage.emulator.directory) / f"skew{hours}"
        path.mkdir()
        (path / "sitecustomize.py").write_text(_SKEW.format(hours=hours), encoding="utf-8")
        variables = {
            **{name: value for name, value in os.environ.items() if name.startswith(("AWS_", "PATH"))},
            **env.to_env(),
            **stage.database.to_env(),
            "HEADWAY_SPEED": str(stage.emulator.speed),
            "PYTHONPATH": str(path),
        }
        again = "import runpy, time\nwhile True:\n    " + "\n    ".join(
            (
                "try: runpy.run_module('headway.reconciler', run_name='__main__')",
                "except SystemExit: time.sleep(10)",
            )
        )
        log = (path / "log").open("wb")
        running.append(subprocess.Popen([sys.executable, "-c", again], env=variables, stdout=log, stderr=log))
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def abandoned(stage: LocalStage, engine: sa.Engine) -> dict[str, Any]:
    """Measure after how many minutes abandoned jobs end, while one that is held by beats alone does not."""
    living = held_job(engine)
    silent = []
    with skewed_reconcilers(stage, connection_to(stage.name).reconciler):
        for _ in range(ABANDONED):
            silent.append(held_job(engine).job_id)
            _beats(stage, engine, living, 3.0)
        while any(_status(engine, job) is JobStatus.RUNNING for job in silent):
            _beats(stage, engine, living, 1.0)
    with engine.connect() as connection:
        query = sa.text(
            "SELECT extract(epoch FROM jobs.finished_at - steps.started_at) FROM jobs JOIN steps ON job_id = jobs.id"
            " WHERE jobs.id = ANY(:jobs) AND jobs.status = 'canceled'"
        )
        minutes = sorted(
            round(float(s) * stage.emulator.speed / 60, 2) for s in connection.scalars(query, {"jobs": silent})
        )
    return {
        "abandoned_canceled_after_min": minutes,
        "false_cancels": int(_status(engine, living.job_id) is not JobStatus.RUNNING),
        "clock_skew_h": 12,
    }


def _beats(stage: LocalStage, engine: sa.Engine, claim: Claim, for_s: float) -> None:
    """Let wall time pass, with a beat of the living job's worker each 40 s of stage time."""
    until_s = time.monotonic() + for_s
    while time.monotonic() < until_s:
        renew_claim(engine, claim, lease_s=600.0)
        time.sleep(40 / stage.emulator.speed)


def _status(engine: sa.Engine, job: UUID) -> JobStatus:
    view = job_view(engine, job)
    assert view is not None
    return view.summary.status


def canceled(stage: LocalStage, engine: sa.Engine) -> dict[str, Any]:
    """Measure when the last call of a canceled job began, and when its calls were given up."""
    to = connection_to(stage.name)
    with closing(Producer(to.producer, to.database)) as producer:
        drawings = [draw(700 + number, blocks=6) for number in range(CANCELED)]
        jobs = [producer.submit(drawing.data, drawing.name) for drawing in drawings]
    after, given_up = list[float](), list[float]()
    for job in jobs:
        until(partial(_is_called_for, stage, job, engine), within_s=300, what="a call")
        ending = cancel_job(engine, job, actor="bench", reason="measured")
        assert ending.end is not None
        time.sleep(_SETTLED_WALL_S)
        at = ending.end.at.timestamp()
        calls = _calls(stage, job)
        after += [call["started"] - at for call in calls if call["started"] > at]
        given_up += [call["ended"] - at for call in calls if call["started"] <= at < call["ended"]]
    return {
        "canceled": CANCELED,
        "calls_begun_after_cancel": len(after),
        "last_call_after_cancel_s": round(max(after, default=0.0) * stage.emulator.speed, 2),
        "calls_given_up": len(given_up),
        "given_up_within_wall_s": round(max(given_up, default=0.0), 3),
    }


def _is_called_for(stage: LocalStage, job: UUID, engine: sa.Engine) -> bool:
    """Return whether some step of the job is claimed while the model is at work."""
    view = job_view(engine, job)
    claimed = view is not None and view.summary.steps.get(StepStatus.RUNNING, 0) > 0
    return claimed and stage.model_usage()["in_flight"] > 0


def _calls(stage: LocalStage, job: UUID) -> list[dict[str, Any]]:
    log = Path(stage.emulator.directory) / "calls.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [line for line in map(json.loads, lines) if line.get("job") == str(job)]


@contextmanager
def _stage(speed: float) -> Iterator[LocalStage]:
    raise_on_signals()  # the end of a stage before has turned them off
    settings = varied(load_stage("local"), laptop__schedule_min_wall_s=0.5)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEADWAY_STATE"] = folder
        with local_stage(settings, speed=speed, seed=1, report=narrate) as stage:
            stage.enter()
            yield stage


def main() -> int:
    """Measure, print, write the report, and return 0 where the goals are met."""
    report: dict[str, Any] = {}
    for speed, measure in ((CANCEL_SPEED, canceled), (ABANDON_SPEED, abandoned)):
        with _stage(speed) as stage:
            engine = connect(stage.database)
            report |= measure(stage, engine)
            engine.dispose()
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(REPORT.read_text(encoding="utf-8"))
    minutes = report["abandoned_canceled_after_min"]
    met = (
        len(minutes) == ABANDONED
        and all(IDLE_MIN <= each <= GOAL_MIN for each in minutes)
        and report["false_cancels"] == 0
        and report["last_call_after_cancel_s"] <= GOAL_S
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
