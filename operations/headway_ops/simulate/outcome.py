"""What a run came to."""

from dataclasses import dataclass
from typing import Any

from headway_ops.simulate.recorder import Sample


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One run's figures. Waits are seconds from sent to started; ``task_h`` counts the heavy service's task-hours.

    ``calls`` and ``messages`` are how many there were; ``call_h`` is how long the calls took together.
    ``makespan_p95_s``: from a job's arrival to its last call's end. ``first_change_s``: from the first job to the
    first change of the desired count, or None. ``under_busy_s``: how long fewer tasks were desired than were at work.
    ``lost``: messages whose work a stop threw away. ``saturated``: the time to drain was over before the work was.
    """

    policy: str
    workload: str
    seed: int
    hours: float
    jobs: int
    jobs_finished: int
    jobs_failed: int
    interactive_wait_p95_s: float
    interactive_wait_max_s: float
    heavy_wait_mean_s: float
    heavy_wait_p95_s: float
    heavy_wait_max_s: float
    makespan_p95_s: float
    makespan_max_s: float
    task_h: float
    task_calls: int
    fast_task_h: float
    call_h: float
    calls: int
    messages: int
    quota: int
    peak_in_flight: int
    over_quota: int
    rate_limited: int
    lost: int
    redelivered: int
    dead_letters: int
    busy_stops: int
    refusals: int
    under_busy_s: float
    peak_tasks: int
    first_change_s: float | None
    saturated: bool
    events: int
    trace: str
    samples: list[Sample]
    changes: list[tuple[float, str, str]]

    @property
    def unit_h(self) -> float:
        """Task-hours in tasks of eight calls, so that fleets of bigger and smaller tasks compare."""
        return self.task_h * self.task_calls / 8

    @property
    def findings(self) -> list[str]:
        """What is not as it must be, one line each."""
        open_jobs = self.jobs - self.jobs_finished - self.jobs_failed
        zeros = ("jobs_failed", "over_quota", "busy_stops", "dead_letters")
        return [
            *(
                [f"saturated: {open_jobs} of {self.jobs} jobs were not done when the time to drain was over"]
                if self.saturated
                else []
            ),
            *(f"{name} = {value}, expected 0" for name in zeros if (value := getattr(self, name))),
        ]

    def figures(self) -> dict[str, Any]:
        """Return the figures without the samples and changes."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("samples", "changes")}
