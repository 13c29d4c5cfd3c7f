"""One run: a stage's quota, a workload and a policy on virtual time."""

import math
import random
from collections.abc import Callable

from headway.scaling import Reading
from headway_ops.simulate.calls import Calls
from headway_ops.simulate.conditions import Conditions
from headway_ops.simulate.consumer import Consumer
from headway_ops.simulate.engine import Engine
from headway_ops.simulate.gauge import Gauge
from headway_ops.simulate.guards import guard_for
from headway_ops.simulate.jobs import Jobs
from headway_ops.simulate.lane import Lane, Message
from headway_ops.simulate.outcome import Outcome
from headway_ops.simulate.policies.policy import Policy
from headway_ops.simulate.recorder import Recorder
from headway_ops.simulate.service import EcsService
from headway_ops.simulate.shape import Guard, Lanes
from headway_ops.simulate.stage import ServiceShape
from headway_ops.simulate.waits import Waits
from headway_ops.simulate.workload import Workload, jobs_of


def simulate(
    workload: Workload,
    policy: Policy,
    *,
    quota: int,
    seed: int,
    conditions: Conditions | None = None,
    sampled: bool = False,
    traced: bool = False,
) -> Outcome:
    """Run ``workload`` under ``policy`` and return what it came to; equal arguments run equally, event by event.

    ``sampled`` keeps what charts show, ``traced`` hashes every event, both at some cost in speed.
    """
    simulation = Simulation(workload, policy, quota, seed, policy.under(conditions or Conditions()))
    return simulation.run(sampled=sampled, traced=traced)


class Simulation:
    """Everything of one run."""

    def __init__(self, workload: Workload, policy: Policy, quota: int, seed: int, conditions: Conditions) -> None:
        self._workload, self._policy, self._seed, self._conditions = workload, policy, seed, conditions
        self._rng = random.Random(f"{seed}/aws")  # noqa: S311  # a simulation's dice
        self._engine, self._calls = Engine(), Calls(quota)
        self._recorder = Recorder(self._engine, workload.duration_s)
        self._waits = Waits(resolution_s=0.01), Waits(resolution_s=0.1)
        self._peak_tasks = 0
        self._first_change_s = math.nan
        self._controller = policy.controller()
        self._build()

    def run(self, *, sampled: bool, traced: bool) -> Outcome:
        """Run until the last job is done, or until the workload's time to drain is over."""
        engine, workload, delay = self._engine, self._workload, self._conditions.alarm_delay_s
        for service in self._services:
            service.begin()
        if sampled:
            self._recorder.watch((self._heavy_lane, self._fast_lane), self._services[0], self._calls, self._waits)
        self._gauge.begin()
        engine.at(delay, self._decide)
        for number, deploy in enumerate(workload.deploys, start=2):
            engine.at(deploy.at_min * 60, self._services[0].deploy, str(number))
        self._jobs.next()
        trace = engine.run(workload.duration_s + workload.drain_h * 3_600, traced=traced)
        for service in self._services:
            service.settle()
        return self._outcome(trace)

    def _build(self) -> None:
        fleet = self._policy.fleet
        self._heavy_lane = self._fast_lane = Lane(fleet.heavy.lane.max_receives)
        if fleet.lanes is not Lanes.SINGLE:
            self._fast_lane = Lane((fleet.fast or fleet.heavy).lane.max_receives)
        self._jobs = Jobs(
            self._engine,
            jobs_of(self._workload, self._seed),
            split=fleet.split,
            interactive=self._send_interactive,
            heavy=self._send_heavy,
        )
        own = fleet.lanes is Lanes.DEDICATED and fleet.fast is not None
        polled = [self._heavy_lane] if own or fleet.lanes is Lanes.SINGLE else [self._fast_lane, self._heavy_lane]
        self._heavy, service = self._part(fleet.heavy, polled, fleet.guard, self._recorder.note)
        self._fast, self._services = self._heavy, [service]
        if own and fleet.fast:
            self._fast, fast_service = self._part(fleet.fast, [self._fast_lane], Guard.NONE, _ignore)
            self._services.append(fast_service)
        seen = None if self._fast_lane is self._heavy_lane else self._fast_lane
        self._gauge = Gauge(
            self._engine,
            self._policy.looks,
            (self._heavy_lane, seen),
            service,
            self._conditions,
            self._rng,
            self._look,
        )

    def _part(
        self, shape: ServiceShape, lanes: list[Lane], guard: Guard, note: Callable[[str, str], None]
    ) -> tuple[Consumer, EcsService]:
        """Return a service's workers and its tasks, joined by what protects them."""
        consumer = Consumer(
            self._engine,
            shape,
            self._policy.fleet,
            lanes,
            calls=self._calls,
            waits=self._waits,
            conditions=self._conditions,
            rng=self._rng,
            settled=self._jobs.settled,
            failed=self._jobs.lost,
        )
        service = EcsService(self._engine, shape, consumer, self._conditions, self._rng, note)
        consumer.guard = service.guard = guard_for(guard, self._engine, consumer, service, self._conditions, self._rng)
        return consumer, service

    def _send_interactive(self, message: Message) -> None:
        self._fast.send(self._fast_lane, message)

    def _send_heavy(self, message: Message) -> None:
        self._heavy.send(self._heavy_lane, message)

    def _look(self, reading: Reading) -> None:
        slots, busy = reading.running * self._heavy.slots, reading.heavy.in_flight
        share = busy / slots if busy < slots else float(busy > 0)
        self._controller.look(reading, self._conditions.busy_cpu_percent * share, self._engine.now)

    def _decide(self, _: object) -> None:
        service, now = self._services[0], self._engine.now
        start = service.running if self._conditions.scales_from_running else None
        desired = self._controller.decide(now, service.desired, start=start, deploying=service.deploying)
        if desired != service.desired:
            if self._jobs.sent and math.isnan(self._first_change_s):
                self._first_change_s = now - self._jobs.first_s
            self._peak_tasks = max(self._peak_tasks, desired)
            service.set_desired(desired)
        self._engine.after(self._policy.looks.decides_every_s, self._decide)

    def _outcome(self, trace: str) -> Outcome:
        jobs, heavy, fast = self._jobs, self._services[0], self._services[1] if len(self._services) > 1 else None
        consumers = {self._heavy, self._fast}
        fast_waits, heavy_waits = self._waits
        lanes = {self._heavy_lane, self._fast_lane}
        fleet = self._policy.fleet.heavy
        return Outcome(
            policy=self._policy.name,
            workload=self._workload.name,
            seed=self._seed,
            hours=self._engine.now / 3_600,
            jobs=jobs.sent,
            jobs_finished=jobs.sent - jobs.unfinished - jobs.failed,
            jobs_failed=jobs.failed,
            interactive_wait_p95_s=fast_waits.quantile(0.95),
            interactive_wait_max_s=fast_waits.longest_s,
            heavy_wait_mean_s=heavy_waits.mean_s,
            heavy_wait_p95_s=heavy_waits.quantile(0.95),
            heavy_wait_max_s=heavy_waits.longest_s,
            makespan_p95_s=jobs.makespans.quantile(0.95),
            makespan_max_s=jobs.makespans.longest_s,
            task_h=heavy.task_s / 3_600,
            task_calls=fleet.concurrency * fleet.max_inflight,
            fast_task_h=fast.task_s / 3_600 if fast else 0.0,
            call_h=self._calls.busy_s / 3_600,
            calls=self._calls.begun,
            messages=fast_waits.count + heavy_waits.count,
            quota=self._calls.quota,
            peak_in_flight=self._calls.peak,
            over_quota=self._calls.over_quota,
            rate_limited=self._calls.rate_limited,
            lost=sum(consumer.lost for consumer in consumers),
            redelivered=sum(consumer.redelivered for consumer in consumers),
            dead_letters=sum(lane.dead_letters for lane in lanes),
            busy_stops=heavy.busy_stops,
            refusals=heavy.refusals,
            under_busy_s=heavy.under_busy_s,
            peak_tasks=self._peak_tasks,
            first_change_s=None if math.isnan(self._first_change_s) else self._first_change_s,
            saturated=jobs.unfinished > 0 or not jobs.all_sent,
            events=self._engine.events,
            trace=trace,
            samples=self._recorder.samples,
            changes=self._recorder.changes,
        )


def _ignore(_kind: str, _value: str) -> None:
    """The fast service's changes are no news: it has a fixed size."""
