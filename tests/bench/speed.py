"""How fast is the simulator? The full model, and M/M/c beside SimPy's and ciw's, in one run on one core."""

import dataclasses
import multiprocessing
import random
import resource
import time
from collections.abc import Callable, Generator
from concurrent.futures import ProcessPoolExecutor
from statistics import median
from typing import Any

import ciw
import simpy

from headway_ops.simulate import SimulatedStage, simulate
from headway_ops.simulate.policies import headway
from headway_ops.simulate.variation import varied
from headway_ops.simulate.workload import Phase, Workload, load_workload
from tests.bench.queueing import MMc

SERVERS, LOAD = 16, 0.9
#: A thousand jobs an hour are 1,000 x 5.6 calls of 1,050 s: 1,633 in flight.
WEEK_QUOTA = 2_000


def events_per_s(stage: SimulatedStage, repeats: int) -> tuple[float, float]:
    """Return the full model's events a second over eight steady hours, and what such a run takes, milliseconds."""
    steady, policy = load_workload("steady"), headway(stage)
    rates, took = [], []
    for seed in range(repeats):
        began = time.process_time()
        events = simulate(steady, policy, quota=stage.quota_calls, seed=seed).events
        seconds = time.process_time() - began
        rates.append(events / seconds)
        took.append(seconds * 1_000)
    return median(rates), median(took)


def customers_per_s(customers: int) -> dict[str, float]:
    """Return the M/M/16 customers a second of this engine, SimPy and ciw, each the best of three turns."""
    contestants: dict[str, Callable[[int], object]] = {
        "headway": lambda n: MMc(SERVERS, LOAD, n, seed=1).run(),
        "simpy": _simpy,
        "ciw": _ciw,
    }
    best = dict.fromkeys(contestants, 0.0)
    for _ in range(3):
        for name, run in contestants.items():
            began = time.process_time()
            run(customers)
            best[name] = max(best[name], customers / (time.process_time() - began))
    return best


def _simpy(customers: int) -> None:
    rng, environment = random.Random(1), simpy.Environment()
    servers = simpy.Resource(environment, capacity=SERVERS)

    def customer() -> Generator[simpy.Event, Any, None]:
        with servers.request() as place:
            yield place
            yield environment.timeout(rng.expovariate(1.0))

    def source() -> Generator[simpy.Event, Any, None]:
        for _ in range(customers):
            yield environment.timeout(rng.expovariate(SERVERS * LOAD))
            environment.process(customer())

    environment.process(source())
    environment.run()


def _ciw(customers: int) -> None:
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate=SERVERS * LOAD)],
        service_distributions=[ciw.dists.Exponential(rate=1.0)],
        number_of_servers=[SERVERS],
    )
    ciw.seed(1)
    ciw.Simulation(network).simulate_until_max_customers(customers)


def week_s(stage: SimulatedStage) -> float:
    """Return how many CPU seconds a week of prod takes at a thousand jobs an hour, its quota raised to match."""
    roomy = varied(stage, plan=dataclasses.replace(stage.scaling.plan, quota_calls=WEEK_QUOTA))
    week = Workload(name="week", phases=(Phase(minutes=7 * 24 * 60, jobs_per_min=1_000 / 60),))
    began = time.process_time()
    simulate(week, headway(roomy), quota=WEEK_QUOTA, seed=1)
    return time.process_time() - began


def growth_mib(stage: SimulatedStage, days: int) -> float:
    """Return how much more memory so many days need at their peak than one day, MiB, in a process of its own."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_growth_mib, stage, days).result()


def _growth_mib(stage: SimulatedStage, days: int) -> float:
    def peak_after(span: int) -> float:
        phases = (Phase(minutes=span * 24 * 60, jobs_per_min=0.5),)
        simulate(Workload(name="span", phases=phases), headway(stage), quota=stage.quota_calls, seed=1)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024

    day = peak_after(1)
    return peak_after(days) - day
