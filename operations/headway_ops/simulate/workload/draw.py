"""Draws a workload's jobs: equal seeds draw equal jobs, whatever policy they meet."""

import math
import random
from collections.abc import Iterator

from headway_ops.simulate.workload.values import JobShape, Phase, Workload


class Job:
    """One job as it was drawn: when it comes, its interactive step, and each block's calls, all in seconds."""

    __slots__ = ("arrived", "blocks", "failed", "fast_s", "open")

    def __init__(self, arrived: float, fast_s: float, blocks: list[tuple[float, ...]]) -> None:
        self.arrived = arrived
        self.fast_s = fast_s
        self.blocks = blocks
        #: Messages that have not been worked off yet.
        self.open = 0
        self.failed = False


def jobs_of(workload: Workload, seed: int) -> Iterator[Job]:
    """Yield a workload's jobs in the order they come, one at a time: a month of them is never held at once."""
    rng = random.Random(f"{seed}/{workload.name}")  # noqa: S311  # a simulation's dice
    # A second stream for what jobs are made of, so that a change of the rate leaves the jobs themselves as they are.
    shapes = random.Random(f"{seed}/{workload.name}/jobs")  # noqa: S311  # a simulation's dice
    for arrived in workload.arrivals_s or _arrivals(workload, rng):
        yield _job(workload.job, arrived, shapes)


def _arrivals(workload: Workload, rng: random.Random) -> Iterator[float]:
    start = 0.0
    for _ in range(workload.repeat):
        for phase in workload.phases:
            yield from _phase(phase, start, rng)
            start += phase.minutes * 60


def _phase(phase: Phase, start: float, rng: random.Random) -> Iterator[float]:
    length = phase.minutes * 60
    if phase.jobs:
        yield from sorted(start + rng.uniform(0, length) for _ in range(phase.jobs))
        return
    # Thinning (Lewis and Shedler 1979): draw at the highest rate, and keep each in proportion to the rate at its time.
    highest = max(phase.jobs_per_min, phase.peak_jobs_per_min) / 60
    if not highest:
        return
    swing = (phase.peak_jobs_per_min - phase.jobs_per_min) / 60 if phase.peak_jobs_per_min else 0.0
    at = rng.expovariate(highest)
    while at < length:
        if not swing or rng.random() * highest < phase.jobs_per_min / 60 + swing * math.sin(2 * math.pi * at / length):
            yield start + at
        at += rng.expovariate(highest)


def _job(shape: JobShape, arrived: float, rng: random.Random) -> Job:
    random_, (low, high), recorded = rng.random, shape.call_s, shape.recorded_call_s
    blocks = []
    for _ in range(rng.randint(*shape.blocks)):
        dice, calls = random_(), 0
        for calls, chance in shape.calls:  # noqa: B007  # the count where the dice fall
            dice -= chance
            if dice < 0:
                break
        if recorded:
            blocks.append(tuple([recorded[int(random_() * len(recorded))] for _ in range(calls)]))
        else:
            blocks.append(tuple([low + (high - low) * random_() for _ in range(calls)]))
    return Job(arrived, rng.uniform(*shape.fast_s), blocks)
