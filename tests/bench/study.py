"""Every policy under every workload, on seeds that no tuning has seen."""

import dataclasses
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from headway_ops.simulate import Outcome, SimulatedStage, simulate
from headway_ops.simulate.compare import Interval, compare
from headway_ops.simulate.policies import Policy, clairvoyant, headway, oracle, peers
from headway_ops.simulate.variation import varied
from headway_ops.simulate.workload import Deploy, Phase, Workload, load_workload, shipped

#: Tuning used seeds from 100 on.
HELD_OUT = range(1_000, 1_020)
MINUTELY = "headway-60s"
ROOMY_QUOTA = 1_200
#: Policies by workload by measure.
Table = dict[str, dict[str, dict[str, Interval]]]


@dataclass(frozen=True, kw_only=True)
class Study:
    """The study of one stage. ``seeds`` are run for each policy and workload, ``workers`` at a time."""

    stage: SimulatedStage
    seeds: tuple[int, ...]
    workers: int = os.cpu_count() or 1

    def policies(self) -> list[Policy]:
        """Return every policy by value; the clairvoyant bound is first."""
        minutely = headway(varied(self.stage, publish_every_s=60))
        return [
            clairvoyant(self.stage),
            oracle(self.stage),
            headway(self.stage),
            dataclasses.replace(minutely, name=MINUTELY),
            *peers(self.stage),
        ]

    def table(self) -> Table:
        """Return every measure of every policy under every workload."""
        table: Table = {policy.name: {} for policy in self.policies()}
        for workload in shipped():
            runs = self._runs(workload, len(table))
            for name, outcomes in runs.items():
                table[name][workload] = compare(outcomes, runs["clairvoyant"])
        return table

    def roomy(self) -> dict[str, Interval]:
        """Return the measures of a burst where the quota is ten times as high, and the fleet's cap with it."""
        plan = dataclasses.replace(self.stage.scaling.plan, quota_calls=ROOMY_QUOTA)
        stage = varied(self.stage, plan=plan)
        pairs = [(index, seed) for index in range(2) for seed in self.seeds]
        found = _each(partial(_roomy, stage), pairs, self.workers)
        return compare(found[: len(self.seeds)], found[len(self.seeds) :])

    def _runs(self, workload: str, policies: int) -> dict[str, list[Outcome]]:
        run = partial(_run, self, workload)
        pairs = [(index, seed) for index in range(policies) for seed in self.seeds]
        found: dict[str, list[Outcome]] = {}
        for outcome in _each(run, pairs, self.workers):
            found.setdefault(outcome.policy, []).append(outcome)
        return found


@dataclass(frozen=True, kw_only=True)
class FleetDays:
    """What must never happen, counted over so many simulated days of a fleet. ``under_busy_s`` is in all of them."""

    days: float
    busy_stops: int
    over_quota: int
    under_busy_s: float
    longest_under_busy_s: float


def fleet_days(stage: SimulatedStage, days: int, workers: int) -> FleetDays:
    """Simulate nights of every kind of load, a deploy in each third of them, until they are so many days."""
    nights = [load_workload(name) for name in shipped()]
    nights += [dataclasses.replace(night, deploys=(Deploy(at_min=100),)) for night in nights[::2]]
    mixed = Workload(
        name="mixed",
        phases=tuple(Phase(minutes=60, jobs_per_min=rate) for rate in (0.1, 1.2, 0.02, 0.6, 2.0, 0.0, 0.3, 0.05)),
    )
    nights.append(mixed)
    hours, seed = 0.0, 0
    found: list[Outcome] = []
    while hours < days * 24:
        batch = [(index, seed + turn) for turn in range(5) for index in range(len(nights))]
        fresh = _each(partial(_night, stage, nights), batch, workers)
        hours += sum(outcome.hours for outcome in fresh)
        found += [dataclasses.replace(outcome, samples=[], changes=[]) for outcome in fresh]
        seed += 5
    return FleetDays(
        days=hours / 24,
        busy_stops=sum(outcome.busy_stops for outcome in found),
        over_quota=sum(outcome.over_quota for outcome in found),
        under_busy_s=sum(outcome.under_busy_s for outcome in found),
        longest_under_busy_s=max(outcome.under_busy_s for outcome in found),
    )


def _each(run: Callable[[tuple[int, int]], Outcome], pairs: list[tuple[int, int]], workers: int) -> list[Outcome]:
    if workers == 1:
        return [run(pair) for pair in pairs]
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(run, pairs, chunksize=5))


def _run(study: Study, workload: str, pair: tuple[int, int]) -> Outcome:
    index, seed = pair
    outcome = simulate(load_workload(workload), study.policies()[index], quota=study.stage.quota_calls, seed=seed)
    return dataclasses.replace(outcome, samples=[], changes=[])


def _roomy(stage: SimulatedStage, pair: tuple[int, int]) -> Outcome:
    index, seed = pair
    policy = (headway, clairvoyant)[index](stage)
    return simulate(load_workload("burst"), policy, quota=ROOMY_QUOTA, seed=seed)


def _night(stage: SimulatedStage, nights: list[Workload], pair: tuple[int, int]) -> Outcome:
    index, seed = pair
    return simulate(nights[index], headway(stage), quota=stage.quota_calls, seed=seed)
