"""How many tasks does a backlog need?

The need counts work that is waiting and work in flight, in slots rather than messages, adds the heavy messages that
the fast lane is about to send, some spare, and a square-root margin for bursts (square-root staffing: the spread of a
random load grows with the root of its mean). It is never below the tasks that protect running work, because a desired
count under the protected count makes ECS refuse new protection: where work began between a reading and the scale-in
that followed it, the next reading takes the scale-in back. A deployment's old tasks may be protected beyond the desired
count and are no reason to scale out. The need is never above what the call quota allows.

A fleet that may scale to zero keeps no spare while nothing waits, works or comes. An alarm compares what is published
with a threshold, and 0 says "nothing to do in this direction", so no task at all is a value of its own.
"""

import dataclasses
import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from headway.scaling.backlog import Decision, Reading
from headway.scaling.budget import max_tasks_within
from headway.scaling.steps import Step, exact_capacity_steps, ladder, rung_at_or_above

#: What is published for no task at all: more than "nothing to do", and less than one task.
NO_TASK = 0.5


@dataclass(frozen=True, kw_only=True)
class ScalingPlan:
    """The numbers of one stage's scaling.

    ``min_tasks``: 0 lets an idle fleet go to none, and its first message start a task.
    ``quota_calls``: calls the model allows in flight. ``slots_per_task`` = concurrency, one message a slot.
    ``calls_per_job``: heavy messages one fast message will send. ``spare_slots``: slots kept free.
    ``burst_beta``: weight of the square-root margin. ``max_tasks``: 0 leaves the cap to the quota.
    """

    concurrency: int
    max_inflight: int
    quota_calls: int
    min_tasks: int
    max_tasks: int = 0
    calls_per_job: float
    spare_slots: float
    burst_beta: float

    @functools.cached_property
    def cap(self) -> int:
        """The most tasks: what the quota allows, or ``max_tasks`` where that is set and lower."""
        allowed = max_tasks_within(self.quota_calls, concurrency=self.concurrency, max_inflight=self.max_inflight)
        return min(allowed, self.max_tasks) if self.max_tasks else allowed

    @functools.cached_property
    def levels(self) -> tuple[int, ...]:
        """The task counts that can be asked for, at most 20."""
        return ladder(self.min_tasks, self.cap)

    @functools.cached_property
    def _level_for(self) -> tuple[int, ...]:
        """The lowest level that is enough for each need from 0 to the cap."""
        return tuple(rung_at_or_above(self.levels, need) for need in range(self.cap + 1))

    @property
    def threshold(self) -> float:
        """From where both alarms fire: the lowest level that may be published."""
        return 1 if self.min_tasks else NO_TASK

    @property
    def steps(self) -> tuple[Step, ...]:
        """The ExactCapacity steps of both policies, in and out alike: a published level is the capacity."""
        return exact_capacity_steps(self.levels, threshold=self.threshold)

    def decide(self, reading: Reading) -> Decision:
        """Return what ``reading`` needs. The answer depends on nothing else, so equal readings decide equally."""
        backlog = reading.heavy.total
        coming = self.calls_per_job * reading.fast.total if reading.fast else 0.0
        at_rest = not (self.min_tasks or backlog or coming)
        slots = 0.0 if at_rest else backlog + coming + self.spare_slots + self.burst_beta * math.sqrt(backlog)
        floor = min(reading.protected, reading.desired) if reading.deploying else reading.protected
        need = self._level_for[min(max(math.ceil(slots / self.concurrency), self.min_tasks, floor), self.cap)]
        return Decision(
            need=need,
            scale_out_to=need if need > reading.desired else 0,
            scale_in_to=(need or NO_TASK) if need < reading.desired else 0,
            backlog_per_task=reading.heavy.visible / max(reading.running, 1),
        )

    def to_mapping(self) -> dict[str, Any]:
        """Return the numbers by name, for the publisher's environment."""
        return dataclasses.asdict(self)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Build the plan from ``to_mapping``'s numbers.

        Raises:
            TypeError: a number is missing or unknown.
        """
        return cls(**values)
