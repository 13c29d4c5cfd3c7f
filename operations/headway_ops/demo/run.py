"""A burst from idle, interactive jobs while the fleet is busy, and everything checked at the end."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from headway.jobs.database import connect
from headway.jobs.queries import job_view, list_jobs
from headway.jobs.tallies import waits
from headway.producer import Producer
from headway_ops.demo.checking import check
from headway_ops.demo.drawings import Drawing, draw
from headway_ops.demo.memory import MemoryMeter
from headway_ops.demo.report import Report, busy_stops, task_peaks
from headway_ops.local.errors import UnreachableError
from headway_ops.local.observe import Observer, Snapshot
from headway_ops.local.running import LocalStage
from stacks.settings import StageSettings

_LOOK_EVERY_WALL_S = 0.5

Show = Callable[[Snapshot, LocalStage], None]


@dataclass(frozen=True, kw_only=True)
class DemoPlan:
    """What the demo sends, and how long it may take in wall seconds."""

    burst_jobs: int = 20
    late_jobs: int = 4
    seed: int = 1
    within_s: float = 300.0

    def drawings(self) -> list[Drawing]:
        """Return every drawing, 2 to 4 blocks each and every fourth a PDF; the late ones come last."""
        count = self.burst_jobs + self.late_jobs
        return [draw(self.seed * 1_000 + n, blocks=2 + n % 3, pdf=n % 4 == 3) for n in range(count)]


def run(stage: LocalStage, settings: StageSettings, plan: DemoPlan, *, began: float, show: Show) -> Report:
    """Send, watch and check; ``began`` is the monotonic time the demo was started at.

    Raises:
        UnreachableError: the stage does not finish in time.
    """
    observer = Observer(stage=stage, engine=connect(stage.database))
    producer = Producer(observer.producer, stage.database)
    drawings = plan.drawings()
    memory = MemoryMeter()
    deadline = time.monotonic() + plan.within_s
    _wait_until_consuming(observer, deadline)
    for drawing in drawings[: plan.burst_jobs]:
        producer.submit(drawing.data, drawing.name)
    late = drawings[plan.burst_jobs :]
    while True:
        snapshot = observer.snapshot()
        show(snapshot, stage)
        memory.sample()
        if late and snapshot.fleets["heavy"].running > 1 and snapshot.jobs.steps_succeeded > 0:
            drawing = late.pop(0)
            producer.submit(drawing.data, drawing.name)
        if not late and snapshot.jobs.jobs_open == 0 and _at_rest(snapshot, settings):
            return _report(stage, observer, {drawing.name: drawing for drawing in drawings}, memory, began)
        if time.monotonic() > deadline:
            raise UnreachableError(f"the stage did not finish within {plan.within_s:.0f} s: {snapshot.jobs}")
        time.sleep(_LOOK_EVERY_WALL_S)


def _wait_until_consuming(observer: Observer, deadline: float) -> None:
    """Wait until each lane's first worker has asked its queue for messages: the burst meets an idle stage."""
    while not all(observer.polled(lane) for lane in observer.producer.queue_urls):
        if time.monotonic() > deadline:
            raise UnreachableError("the stage's workers do not ask their lanes for messages")
        time.sleep(_LOOK_EVERY_WALL_S)


def _at_rest(snapshot: Snapshot, settings: StageSettings) -> bool:
    heavy = snapshot.fleets["heavy"]
    return heavy.running == heavy.desired == settings.services.heavy.min_tasks


def _report(
    stage: LocalStage, observer: Observer, drawings: dict[str, Drawing], memory: MemoryMeter, began: float
) -> Report:
    engine = observer.engine
    views = [view for job in list_jobs(engine) if (view := job_view(engine, job.id))]
    verdict, waited, counts = check(drawings, views), waits(engine), observer.snapshot().jobs
    usage, events, speed = stage.model_usage(), stage.events(), stage.emulator.speed
    heavy = next(event["subject"] for event in events if observer.lane_of(event["subject"]) == "heavy")
    peak_tasks, final_tasks = task_peaks(events, heavy)
    fast_wall_s, heavy_wall_s = waited.fast_s or 0.0, waited.heavy_s or 0.0
    return Report(
        jobs=counts.jobs,
        jobs_succeeded=counts.jobs_succeeded,
        steps=counts.steps,
        steps_wrong=verdict.steps_wrong,
        steps_lost=verdict.steps_lost,
        model_calls=usage["answered"],
        steps_called_twice=counts.steps_called_twice,
        samples=usage["samples"],
        samples_over_quota=usage["samples_over_quota"],
        peak_in_flight=usage["peak_in_flight"],
        quota=usage["quota"],
        peak_tasks=peak_tasks,
        final_tasks=final_tasks,
        busy_tasks_stopped=busy_stops(events, _calls(stage)),
        fast_wait_p95_s=round(fast_wall_s * speed, 1),
        fast_wait_p95_wall_s=round(fast_wall_s, 3),
        heavy_wait_p95_s=round(heavy_wall_s * speed, 1),
        heavy_wait_p95_wall_s=round(heavy_wall_s, 3),
        deploy_s=round(stage.deploy_s, 1),
        wall_s=round(time.monotonic() - began, 1),
        peak_memory_mib=round(memory.peak_mib),
        speed=speed,
    )


def _calls(stage: LocalStage) -> list[dict[str, object]]:
    log = Path(stage.emulator.directory) / "calls.jsonl"
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
