"""The demo as charts: what was seen of the stage while it ran."""

import time
from dataclasses import dataclass, field

from headway_ops.demo.report import Report
from headway_ops.local.observe import Snapshot
from headway_ops.report import Chart, Line, Page, Table, lines


@dataclass
class Film:
    """Takes snapshots of a stage that runs ``speed`` times as fast as the clock on the wall."""

    speed: float
    _began: float = field(default_factory=time.monotonic)
    _taken: list[tuple[float, Snapshot]] = field(default_factory=list)

    def take(self, snapshot: Snapshot) -> None:
        """Keep a snapshot."""
        self._taken.append(((time.monotonic() - self._began) * self.speed / 3_600, snapshot))

    def page(self, report: Report) -> Page:
        """Return the report of the demo."""
        verdict = (
            f"{report.jobs_succeeded} of {report.jobs} jobs succeeded, and {report.steps - report.steps_wrong} of "
            f"{report.steps} steps say what the drawings hold. At most {report.peak_in_flight} of {report.quota} "
            f"model calls were in flight. The fleet grew to {report.peak_tasks} tasks and went back to "
            f"{report.final_tasks}; {report.busy_tasks_stopped} were stopped at work. In stage time, "
            f"{report.speed:g} times as fast as the clock, interactive steps waited {report.fast_wait_p95_s:.0f} s and "
            f"heavy ones {report.heavy_wait_p95_s:.0f} s at the 95th percentile."
        )
        figures = [[name.replace("_", " "), str(value)] for name, value in vars(report).items()]
        return Page(
            title="A stage on a laptop",
            verdict=" ".join([verdict, *(f"Not as it must be: {finding}." for finding in report.findings)]),
            summary=Table(headings=["figure", "value"], rows=figures),
            charts=self._charts(report),
        )

    def _charts(self, report: Report) -> list[Chart]:
        hours = [hour for hour, _ in self._taken]
        seen = [snapshot for _, snapshot in self._taken]
        fleets = [snapshot.fleets["heavy"] for snapshot in seen]
        lanes = sorted({name for snapshot in seen for name in snapshot.lanes})
        return [
            lines(
                "Backlog",
                "Messages that wait in each lane.",
                hours,
                [Line(name=name, values=[snapshot.lanes[name].waiting for snapshot in seen]) for name in lanes],
                unit="messages",
                stepped=True,
            ),
            lines(
                "Tasks of the heavy lane",
                "What was desired, what ran, and what was protected because it worked.",
                hours,
                [
                    Line(name="desired", values=[fleet.desired for fleet in fleets]),
                    Line(name="running", values=[fleet.running for fleet in fleets]),
                    Line(name="protected", values=[fleet.protected for fleet in fleets]),
                ],
                unit="tasks",
                stepped=True,
            ),
            lines(
                "Model calls in flight",
                f"The dashed line is the quota of {report.quota} calls.",
                hours,
                [Line(name="in flight", values=[snapshot.calls_in_flight for snapshot in seen])],
                unit="calls",
                limit=report.quota,
                stepped=True,
            ),
        ]
