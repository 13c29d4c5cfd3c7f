"""``headway demo``: a whole stage, a burst through it, and a verdict."""

import dataclasses
import json
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from headway_ops.cli.options import Json, Speed, Stage
from headway_ops.cli.view import LiveView, narrate
from headway_ops.demo.film import Film
from headway_ops.demo.report import Report
from headway_ops.demo.run import DemoPlan, run
from headway_ops.local.errors import StageError
from headway_ops.local.observe import Snapshot
from headway_ops.local.running import LocalStage
from headway_ops.local.stage import local_stage
from stacks.loading import load_stage

#: Fast enough that a burst of 25-minute calls fits into two minutes.
_DEMO_SPEED = 120.0


def demo(
    stage: Stage = "local",
    speed: Speed = _DEMO_SPEED,
    as_json: Json = False,
    jobs: Annotated[int, typer.Option(min=1, max=500, help="Drawings in the burst.")] = 20,
    late: Annotated[int, typer.Option(min=0, max=100, help="Interactive drawings sent while the fleet is busy.")] = 4,
    seed: Annotated[int, typer.Option(help="Which drawings, latencies and start times.")] = 1,
    out: Annotated[Path, typer.Option(help="Where report.json, report.html and events.jsonl go.")] = Path("out/demo"),
) -> None:
    """Deploy a whole stage here, send a burst of drawings through it, and check every result."""
    began = time.monotonic()
    settings = load_stage(stage)
    if speed is None or not 1 <= speed <= 600:
        raise StageError(f"speed = {speed}: must be 1..600 stage seconds a wall second; set {_DEMO_SPEED:.0f}")
    with local_stage(settings, speed=speed, seed=seed, report=narrate) as running, LiveView(settings) as view:
        running.enter()
        plan, film = DemoPlan(burst_jobs=jobs, late_jobs=late, seed=seed), Film(speed)

        def show(snapshot: Snapshot, stage: LocalStage) -> None:
            film.take(snapshot)
            view.show(snapshot, stage)

        report = run(running, settings, plan, began=began, show=show)
        events = running.events()
    report.write(out / "report.json")
    (out / "events.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events), encoding="utf-8")
    film.page(report).write(out / "report.html")
    if as_json:
        sys.stdout.write(json.dumps(dataclasses.asdict(report)) + "\n")
    else:
        sys.stdout.write(_summary(report, out / "report.html"))
    for finding in report.findings:
        sys.stderr.write(f"headway: {finding}\n")
    if report.findings:
        raise typer.Exit(1)


def _summary(report: Report, path: Path) -> str:
    return "\n".join(
        (
            f"jobs      {report.jobs_succeeded} of {report.jobs} succeeded; {report.steps} steps checked against "
            f"the drawings: {report.steps_wrong} wrong, {report.steps_lost} lost",
            f"calls     {report.model_calls} model calls, {report.steps_called_twice} steps called twice; "
            f"at most {report.peak_in_flight} of {report.quota} in flight, {report.samples_over_quota} of "
            f"{report.samples} samples over",
            f"tasks     up to {report.peak_tasks}, back to {report.final_tasks}; "
            f"{report.busy_tasks_stopped} stopped while busy",
            f"waits     p95 {report.fast_wait_p95_wall_s:.2f} s interactive, "
            f"{report.heavy_wait_p95_wall_s:.1f} s heavy; in stage time, {report.speed:g} times as fast: "
            f"{report.fast_wait_p95_s:.0f} s and {report.heavy_wait_p95_s:.0f} s",
            f"took      {report.wall_s:.0f} s, {report.deploy_s:.0f} s of it cdk deploy; "
            f"{report.peak_memory_mib:.0f} MiB at the peak",
            f"report    {path}",
            "",
        )
    )
