"""A stage to look at: a live table on a terminal, a line now and then elsewhere."""

import sys
import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from headway_ops.local.observe import Snapshot
from headway_ops.local.running import LocalStage
from stacks.settings import StageSettings

_EVENTS_SHOWN = 8
_LINE_EVERY_S = 5.0


def narrate(message: str) -> None:
    """Say on stderr what is being done."""
    sys.stderr.write(f"headway: {message}\n")


class LiveView:
    """Shows snapshots on stderr; rich honours NO_COLOR, and nothing moves where stderr is no terminal."""

    def __init__(self, settings: StageSettings) -> None:
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._began = time.monotonic()
        self._last_line = 0.0
        self._told = 0
        self._settings = settings

    def __enter__(self) -> Self:
        """Take the terminal, where there is one."""
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the terminal back."""
        if self._console.is_terminal:
            self._live.stop()

    def show(self, snapshot: Snapshot, stage: LocalStage) -> None:
        """Show one snapshot and what happened since the last."""
        events = [text for event in stage.events() if (text := describe(event))]
        if self._console.is_terminal:
            shown = Text("\n".join(events[-_EVENTS_SHOWN:]), style="dim")
            self._live.update(Group(self._table(snapshot), self._bar(snapshot), shown), refresh=True)
            return
        for text in events[self._told :]:
            narrate(text)
        self._told = len(events)
        if time.monotonic() - self._last_line >= _LINE_EVERY_S:
            self._last_line = time.monotonic()
            narrate(line(snapshot))

    def _table(self, snapshot: Snapshot) -> Table:
        table = Table(title=f"{time.monotonic() - self._began:.0f} s", title_justify="left")
        for heading in ("lane", "waiting", "in flight", "desired", "running", "protected"):
            table.add_column(heading, justify="left" if heading == "lane" else "right")
        for name, lane in snapshot.lanes.items():
            fleet = snapshot.fleets[name]
            counts = (lane.waiting, lane.in_flight, fleet.desired, fleet.running, fleet.protected)
            table.add_row(name, *(str(count) for count in counts))
        return table

    @staticmethod
    def _bar(snapshot: Snapshot) -> Text:
        used = round(30 * snapshot.calls_in_flight / snapshot.quota_calls)
        jobs = snapshot.jobs
        return Text(
            f"model calls {'█' * used}{'░' * (30 - used)} {snapshot.calls_in_flight} of {snapshot.quota_calls}\n"
            f"jobs done {jobs.jobs - jobs.jobs_open} of {jobs.jobs}, steps {jobs.steps_succeeded} of {jobs.steps}"
        )


def line(snapshot: Snapshot) -> str:
    """Return one snapshot as one line."""
    jobs = snapshot.jobs
    lanes = ", ".join(
        f"{name} {lane.waiting} waiting {lane.in_flight} in flight on {snapshot.fleets[name].running} tasks"
        for name, lane in snapshot.lanes.items()
    )
    calls = f"{snapshot.calls_in_flight} of {snapshot.quota_calls} calls"
    return f"{lanes}; {calls}; jobs {jobs.jobs - jobs.jobs_open} of {jobs.jobs}"


def describe(event: dict[str, Any]) -> str | None:
    """Return an event in words, or None where it is not worth a line."""
    match event["kind"]:
        case "scale-out" | "scale-in":
            return f"{event['kind'].replace('-', ' ')} {event['before']} -> {event['after']}"
        case "protection refused":
            return f"protection refused: {event['reason']}"
        case "stopped" if event["killed"]:
            return f"task {event['task'][:8]} killed after its stop timeout"
        case "stopped" if not event["asked"]:
            return f"task {event['task'][:8]} ended by itself, exit {event['exit_code']}"
        case _:
            return None
