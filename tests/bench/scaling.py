"""Does the scaling keep up? Every policy on held-out seeds, Erlang C, fleet-days and speed, against their goals.

Writes out/scaling/report.json and report.html, and exits with 1 where a goal is not met. About ten minutes on two
cores; QUICK=1 takes few seeds and under a minute. JOBS says how many processes to use, FLEET_DAYS how many days of a
fleet to simulate: 10000 is a night's work.
"""

import dataclasses
import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from headway_ops.simulate import SimulatedStage, stage_from
from headway_ops.simulate.assembly import of_stage
from headway_ops.simulate.compare import Interval
from headway_ops.simulate.variation import varied
from tests.bench import speed
from tests.bench.queueing import erlang_c_wait, mean_wait
from tests.bench.scaling_page import page
from tests.bench.study import HELD_OUT, MINUTELY, FleetDays, Study, Table, fleet_days

OUT = Path(__file__).resolve().parent.parent.parent / "out" / "scaling"
QUICK = bool(os.environ.get("QUICK"))
JOBS = int(os.environ.get("JOBS", os.cpu_count() or 1))
ERLANG_POINTS = ((1, 0.7), (4, 0.8), (16, 0.9), (60, 0.95))
FLEET_DAYS = int(os.environ.get("FLEET_DAYS", 20 if QUICK else 5_000))


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A number to reach; ``at_least`` tells which side of it is met."""

    name: str
    goal: float
    reached: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the number was reached."""
        return self.reached >= self.goal if self.at_least else self.reached <= self.goal


def scaling_goals(table: Table, roomy: dict[str, Interval]) -> Iterator[Goal]:
    """Yield the goals of the policy's table, each on the mean over seeds."""
    ours = {workload: {name: i.mean for name, i in measures.items()} for workload, measures in table["headway"].items()}
    waits = max(measures["interactive_wait_max_s"] for measures in ours.values())
    yield Goal(name="interactive wait, longest, any workload, s", goal=1.0, reached=waits)
    yield Goal(name="steady: heavy wait p95, s", goal=5.0, reached=ours["steady"]["heavy_wait_p95_s"])
    yield Goal(name="steady: heavy wait max, s", goal=75.0, reached=ours["steady"]["heavy_wait_max_s"])
    yield Goal(name="trickle: heavy wait p95, s", goal=15.0, reached=ours["trickle"]["heavy_wait_p95_s"])
    yield Goal(name="burst: makespan p95 / G", goal=1.01, reached=ours["burst"]["makespan_p95_by_bound"])
    over = ours["overload"]["heavy_wait_p95_over_bound_s"]
    yield Goal(name="overload: heavy wait p95 - G, s", goal=90.0, reached=over)
    for name in ("lost", "rate_limited", "over_quota", "jobs_failed"):
        yield Goal(name=f"any workload: {name}", goal=0, reached=max(measures[name] for measures in ours.values()))
    peak = ours["burst"]["peak_in_flight"]
    yield Goal(name="burst: peak in flight", goal=120, reached=peak, at_least=True)
    yield Goal(name="burst: first change, 10 s mode, s", goal=30, reached=ours["burst"]["first_change_s"])
    slow = table[MINUTELY]["burst"]["first_change_s"].mean
    yield Goal(name="burst: first change, 60 s mode, s", goal=115, reached=slow)
    for workload, goal in (("steady", 1.55), ("burst", 1.10), ("overload", 1.12)):
        reached = ours[workload]["task_hours_by_bound"]
        yield Goal(name=f"{workload}: task-hours / G", goal=goal, reached=reached)
    yield Goal(name="burst at quota 1200: heavy wait p95, s", goal=120, reached=roomy["heavy_wait_p95_s"].mean)


def erlang_goals(customers: int) -> Iterator[Goal]:
    """Yield by how many half widths each interval's mean is off Erlang C: 1 is the edge."""
    with ProcessPoolExecutor(JOBS) as pool:
        for servers, load in ERLANG_POINTS:
            mean, half = mean_wait(servers, load, customers, each=pool.map)
            off = abs(mean - erlang_c_wait(servers, load)) / half
            yield Goal(name=f"M/M/{servers} at {load}: off Erlang C, half widths", goal=1.0, reached=off)


def night_goals(nights: FleetDays) -> Iterator[Goal]:
    """Yield what must never happen, over all fleet-days."""
    days = f"{nights.days:,.0f} fleet-days"
    yield Goal(name=f"{days}: busy tasks stopped", goal=0, reached=nights.busy_stops)
    yield Goal(name=f"{days}: calls over quota", goal=0, reached=nights.over_quota)
    yield Goal(name=f"{days}: desired under busy, s", goal=0, reached=nights.under_busy_s)


def speed_goals(stage: SimulatedStage, measured: dict[str, float]) -> Iterator[Goal]:
    """Yield how fast the simulator is, and note every figure in ``measured``."""
    rate, _ = speed.events_per_s(stage, 3 if QUICK else 9)
    _, run_ms = speed.events_per_s(varied(stage, publish_every_s=60), 3 if QUICK else 9)
    customers = speed.customers_per_s(10_000 if QUICK else 100_000)
    measured |= {"events_per_s": rate, "steady_run_ms": run_ms}
    measured |= {f"customers_per_s_{name}": value for name, value in customers.items()}
    yield Goal(name="full model: events/s", goal=500_000, reached=rate, at_least=True)
    yield Goal(name="eight steady hours at 60 s: ms", goal=20, reached=run_ms)
    for peer, goal in (("simpy", 10.0), ("ciw", 10.0)):
        reached = customers["headway"] / customers[peer]
        yield Goal(name=f"M/M/16 customers/s by {peer}'s", goal=goal, reached=reached, at_least=True)
    if not QUICK:
        measured["week_s"] = speed.week_s(stage)
        yield Goal(name="a week of prod at 1,000 jobs/h, CPU s", goal=60, reached=measured["week_s"])
    measured["month_growth_mib"] = speed.growth_mib(stage, days=3 if QUICK else 30)
    yield Goal(name="memory of a month beyond a day's, MiB", goal=8, reached=measured["month_growth_mib"])


def main() -> int:
    """Measure, write the report, print the goals, and return 0 where all are met."""
    began = time.monotonic()
    stage = stage_from("prod", of_stage("prod"))
    seeds = tuple(HELD_OUT)[: 2 if QUICK else None]
    study = Study(stage=stage, seeds=seeds, workers=JOBS)
    say, measured = partial(_say, began), dict[str, float]()
    say("speed, alone on the machine")
    speeds = list(speed_goals(stage, measured))
    say("every policy under every workload")
    table, roomy = study.table(), study.roomy()
    say("Erlang C")
    waits = list(erlang_goals(40_000))
    say(f"{FLEET_DAYS:,} fleet-days")
    nights = fleet_days(stage, FLEET_DAYS, JOBS)
    goals = [*scaling_goals(table, roomy), *waits, *night_goals(nights), *speeds]
    report = {
        "goals": [
            {"name": goal.name, "goal": goal.goal, "reached": round(goal.reached, 4), "met": goal.met} for goal in goals
        ],
        "events_per_s": round(measured["events_per_s"]),
        "measured": {name: round(value, 3) for name, value in measured.items()},
        "policies": {
            policy: {
                workload: {name: dataclasses.asdict(value) for name, value in measures.items()}
                for workload, measures in workloads.items()
            }
            for policy, workloads in table.items()
        },
        "seeds": list(seeds),
        "took_s": round(time.monotonic() - began, 1),
    }
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "report.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    page(report).write(OUT / "report.html")
    for goal in goals:
        side, verdict = (">=" if goal.at_least else "<="), "met" if goal.met else "MISSED"
        sys.stdout.write(f"{verdict:7} {goal.name}: {goal.reached:,.4g} {side} {goal.goal:,.4g}\n")
    sys.stdout.write(f"report  {OUT / 'report.json'}, {report['took_s']} s\n")
    return 0 if all(goal.met for goal in goals) else 1


def _say(began: float, what: str) -> None:
    sys.stderr.write(f"{time.monotonic() - began:5.0f} s  {what}\n")


if __name__ == "__main__":
    sys.exit(main())
