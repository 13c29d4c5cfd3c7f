"""What the demo proved, as one value: written to report.json and printed."""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Report:
    """The demo's figures. Waits are stage seconds (``_wall_s`` as the clock on the wall saw them)."""

    jobs: int
    jobs_succeeded: int
    steps: int
    steps_wrong: int
    steps_lost: int
    model_calls: int
    steps_called_twice: int
    samples: int
    samples_over_quota: int
    peak_in_flight: int
    quota: int
    peak_tasks: int
    final_tasks: int
    busy_tasks_stopped: int
    fast_wait_p95_s: float
    fast_wait_p95_wall_s: float
    heavy_wait_p95_s: float
    heavy_wait_p95_wall_s: float
    deploy_s: float
    wall_s: float
    peak_memory_mib: float
    speed: float

    @property
    def findings(self) -> list[str]:
        """What is not as it must be, one line each."""
        zeros = ("steps_wrong", "steps_lost", "steps_called_twice", "samples_over_quota", "busy_tasks_stopped")
        return [
            *(f"{name} = {getattr(self, name)}, expected 0" for name in zeros if getattr(self, name)),
            *([] if self.jobs == self.jobs_succeeded else [f"{self.jobs - self.jobs_succeeded} jobs did not succeed"]),
            *([] if self.model_calls == self.steps else [f"{self.model_calls} model calls for {self.steps} steps"]),
            *(
                []
                if self.final_tasks < self.peak_tasks
                else [f"the fleet did not scale in from {self.peak_tasks} tasks"]
            ),
            *(
                []
                if self.fast_wait_p95_s < self.heavy_wait_p95_s
                else ["the fast lane waited as long as the heavy one"]
            ),
        ]

    def write(self, path: Path) -> None:
        """Write the figures as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(dataclasses.asdict(self), indent=2) + "\n", encoding="utf-8")


def task_peaks(events: Iterable[Mapping[str, Any]], service: str) -> tuple[int, int]:
    """Return a service's most running tasks and its last number of them."""
    running: set[str] = set()
    peak = 0
    for event in events:
        if event["subject"] == service and event["kind"] == "running":
            running.add(event["task"])
        elif event["subject"] == service and event["kind"] == "stopped":
            running.discard(event["task"])
        peak = max(peak, len(running))
    return peak, len(running)


def busy_stops(events: Iterable[Mapping[str, Any]], calls: Iterable[Mapping[str, Any]]) -> int:
    """Count the tasks that a scale-in told to stop while the model worked for them.

    ``calls`` are the model server's own log lines, so the count does not rest on protection having worked.
    """
    served = list(calls)
    return sum(
        any(call.get("worker") == event["task"] and call["started"] <= event["wall"] < call["ended"] for call in served)
        for event in events
        if event["kind"] == "stopping" and event["reason"] == "scale in"
    )
