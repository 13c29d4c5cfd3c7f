"""M/M/c through the simulator's own engine, lanes and workers: the queue whose waits are known exactly."""

import math
import random
from collections.abc import Callable, Iterable
from functools import partial
from statistics import fmean, stdev

from headway_ops.simulate.calls import Calls
from headway_ops.simulate.conditions import Conditions
from headway_ops.simulate.consumer import Consumer
from headway_ops.simulate.engine import Engine
from headway_ops.simulate.guards import NoGuard
from headway_ops.simulate.lane import Lane, Message
from headway_ops.simulate.shape import FleetShape, Guard
from headway_ops.simulate.stage import LaneShape, ServiceShape
from headway_ops.simulate.waits import Waits
from headway_ops.simulate.worker import Worker
from headway_ops.simulate.workload import Job

#: Student's t for 19 degrees of freedom, two-sided 95%.
T_19 = 2.093
REPLICATIONS = 20
#: The built-in ``map``, or a pool's.
Map = Callable[[Callable[[int], float], Iterable[int]], Iterable[float]]


def erlang_c_wait(servers: int, load: float) -> float:
    """Return the mean wait of M/M/c in service times (Erlang 1917): C(c, a) / (c (1 - load)), with a = c load."""
    offered = servers * load
    blocked = 1.0
    for n in range(1, servers + 1):
        blocked = offered * blocked / (n + offered * blocked)
    return blocked / (1 - load * (1 - blocked)) / (servers * (1 - load))


class MMc:
    """One run: customers at random, ``servers`` slots of one worker, services of mean 1 s, no delays."""

    def __init__(self, servers: int, load: float, customers: int, seed: int) -> None:
        self._rng, self._rate, self._left = random.Random(seed), servers * load, customers
        self.engine, self.waits = Engine(), Waits(resolution_s=0.01)
        service = ServiceShape(
            lane=LaneShape(visibility_timeout_s=30, max_receives=5),
            concurrency=servers,
            max_inflight=1,
            tasks=1,
            wait_time_s=20,
            polling_interval_s=0.0,
            lease_beat_s=10,
            stop_timeout_s=30,
            protection_s=0,
        )
        self._lane = Lane(max_receives=5)
        self._consumer = Consumer(
            self.engine,
            service,
            FleetShape(heavy=service, fast=None, guard=Guard.NONE),
            [self._lane],
            calls=Calls(1),
            waits=(self.waits, Waits(resolution_s=1)),
            conditions=Conditions(pickup_s=(0, 0)),
            rng=self._rng,
            settled=self._settled,
            failed=self._settled,
        )
        self._consumer.guard = NoGuard(self._consumer)
        self._open = customers

    def run(self) -> Waits:
        """Return how long customers waited."""
        worker = Worker("only", "1", 0.0, 0.0)
        worker.accepting = True
        self._consumer.join(worker)
        self.engine.after(self._rng.expovariate(self._rate), self._arrive)
        self.engine.run(math.inf)
        return self.waits

    def _arrive(self, _: object) -> None:
        now = self.engine.now
        self._consumer.send(self._lane, Message(Job(now, self._rng.expovariate(1.0), []), (), now))
        self._left -= 1
        if self._left:
            self.engine.after(self._rng.expovariate(self._rate), self._arrive)

    def _settled(self, _: Message) -> None:
        self._open -= 1
        if not self._open:
            self.engine.stop()


def mean_wait(servers: int, load: float, customers: int, *, each: Map = map) -> tuple[float, float]:
    """Return the mean wait over replications, and half the width of its 95% interval; ``each`` may run them at once."""
    means = list(each(partial(_replication, servers, load, customers), range(REPLICATIONS)))
    return fmean(means), T_19 * stdev(means) / math.sqrt(REPLICATIONS)


def _replication(servers: int, load: float, customers: int, seed: int) -> float:
    return MMc(servers, load, customers, seed).run().mean_s
