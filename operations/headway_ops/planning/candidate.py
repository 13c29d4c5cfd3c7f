"""The numbers that a proposal may change, as one value."""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headway.scaling import max_tasks_within
from headway_ops.simulate import SimulatedStage
from headway_ops.simulate.variation import varied

#: What each number may become. Tasks grow and shrink with their slots, within Fargate's combinations of CPU and memory.
CHOICES: Mapping[str, tuple[Any, ...]] = {
    "concurrency": (4, 8, 16),
    "max_inflight": (1, 2),
    "min_tasks": (0, 1, 2, 4),
    "max_tasks": (0,),
    "spare_slots": (0.0, 4.0, 7.0, 12.0, 24.0),
    "burst_beta": (0.0, 0.5, 1.0, 2.0),
    "publish_every_s": (10, 60),
}


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One choice of every number."""

    concurrency: int
    max_inflight: int
    min_tasks: int
    max_tasks: int
    spare_slots: float
    burst_beta: float
    publish_every_s: int

    @classmethod
    def of(cls, stage: SimulatedStage) -> "Candidate":
        """Return the numbers that a stage has."""
        plan = stage.scaling.plan
        return cls(
            concurrency=plan.concurrency,
            max_inflight=plan.max_inflight,
            min_tasks=plan.min_tasks,
            max_tasks=plan.max_tasks,
            spare_slots=plan.spare_slots,
            burst_beta=plan.burst_beta,
            publish_every_s=stage.scaling.publish_every_s,
        )

    def neighbours(self, quota: int) -> Iterator["Candidate"]:
        """Yield every candidate that differs in one number, and whose fleet has room in the quota."""
        for name, values in CHOICES.items():
            for value in self._caps(quota) if name == "max_tasks" else values:
                number: dict[str, Any] = {name: value}
                other = dataclasses.replace(self, **number)
                if other != self and other.fits(quota):
                    yield other

    def fits(self, quota: int) -> bool:
        """Return whether the fewest tasks keep within the quota and the cap."""
        allowed = max_tasks_within(quota, concurrency=self.concurrency, max_inflight=self.max_inflight)
        return self.min_tasks <= min(allowed, self.max_tasks or allowed) and self.max_tasks <= allowed

    def applied_to(self, stage: SimulatedStage) -> SimulatedStage:
        """Return ``stage`` with these numbers; its tasks have CPU and memory in proportion to their slots."""
        plan = dataclasses.replace(
            stage.scaling.plan,
            concurrency=self.concurrency,
            max_inflight=self.max_inflight,
            min_tasks=self.min_tasks,
            max_tasks=self.max_tasks,
            spare_slots=self.spare_slots,
            burst_beta=self.burst_beta,
        )
        changed = self.publish_every_s != stage.scaling.publish_every_s
        other = varied(stage, plan=plan, publish_every_s=self.publish_every_s if changed else None)
        share = self.concurrency / stage.heavy.concurrency
        heavy = dataclasses.replace(
            other.heavy,
            cpu_units=round(stage.heavy.cpu_units * share),
            memory_mib=round(stage.heavy.memory_mib * share),
        )
        return dataclasses.replace(other, heavy=heavy)

    def _caps(self, quota: int) -> Iterator[int]:
        """Yield no cap of its own, and caps at a half and three quarters of what the quota allows."""
        allowed = max_tasks_within(quota, concurrency=self.concurrency, max_inflight=self.max_inflight)
        yield 0
        yield from sorted({max(1, allowed // 2), max(1, allowed * 3 // 4)})
