"""The stage's control loop on wall time: one thread conducts, the API's and the agent's only leave notes with it."""

import functools
import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from ministack.services import ecs

from headway_ops.local.emulator.alarms import Alarms
from headway_ops.local.emulator.config import EmulatorConfig
from headway_ops.local.emulator.fleet import Fleet
from headway_ops.local.emulator.journal import Journal
from headway_ops.local.emulator.metrics import measure
from headway_ops.local.emulator.pace import Pace
from headway_ops.local.emulator.stage_time import StageTime
from headway_ops.loop import (
    ControlLoop,
    MetricKey,
    Protections,
    Refusal,
    Service,
    Start,
    StepPolicy,
    Target,
    schedule,
)

_TICK_WALL_S = 0.05
logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class Conductor:
    """Steps the control-loop model, and has the fleet do what it and the service scheduler say."""

    def __init__(self, config: EmulatorConfig, clock: StageTime) -> None:
        self.journal = Journal(config.events, clock)
        self._clock = clock
        self._loop = ControlLoop()
        self._protections = Protections()
        self._fleet = Fleet(config, clock, self.journal)
        self._alarms = Alarms(self._loop)
        self._pace = Pace(config.schedule_min_wall_s)
        self._lock = threading.RLock()
        self._woken = threading.Event()

    # What other threads may ask.

    def alone(self, work: Callable[P, T]) -> Callable[P, T]:
        """Return the same work, done while nothing is started or ended here."""

        @functools.wraps(work)
        def undisturbed(*args: P.args, **keywords: P.kwargs) -> T:
            with self._lock:
                return work(*args, **keywords)

        return undisturbed

    def wake(self) -> None:
        """Look at the services soon: one has changed."""
        self._woken.set()

    def put(self, metric: MetricKey, value: float) -> None:
        """Record a datapoint at the present stage time."""
        with self._lock:
            now = self._clock.now()
            self._loop.put(metric, value, now)
            if self._loop.scales(metric):
                # The same time: a moment later may be another period, and a replay would evaluate it there.
                self.journal.note("published", metric.name, at=now, value=value)

    def add_target(self, service: str, target: Target) -> None:
        """Take a service's bounds."""
        with self._lock:
            self._loop.add_target(service, target)

    def add_policy(self, arn: str, service: str, policy: StepPolicy) -> None:
        """Take a scaling policy."""
        with self._lock:
            self._loop.add_policy(arn, service, policy)

    def forget(self, name: str) -> None:
        """Drop an alarm, a policy or a target."""
        with self._lock:
            self._loop.remove(name)

    def arn_of(self, task_id: str) -> str | None:
        """Return the ARN of a live task."""
        with self._lock:
            return self._fleet.arn_of(task_id)

    def addresses(self) -> list[tuple[str, int]]:
        """Return where the tasks behind the load balancer listen."""
        with self._lock:
            return self._fleet.addresses()

    def run_once(self, request: Mapping[str, Any]) -> Any:
        """Start tasks that belong to no service; return the ECS API's answer."""
        with self._lock:
            return self._fleet.run(request)

    def run_on_schedule(self, request: Mapping[str, Any]) -> None:
        """Start a scheduled task, unless the machine would do nothing else."""
        with self._lock:
            revision = request["taskDefinition"]
            if self._pace.starts(revision, running=self._fleet.running(revision), now=time.monotonic()):
                self._fleet.run(request)

    def stop(self, arn: str, reason: str) -> None:
        """Begin to stop a task; an unknown one is fine."""
        with self._lock:
            self._fleet.stop(arn, reason, protected=self._protections.protected(arn, self._clock.now()))

    def protect(self, arn: str, *, on: bool, minutes: int | None) -> Refusal | None:
        """Protect or release a live task; return why not, where it was refused."""
        with self._lock:
            task = self._fleet.find(arn)
            if task is None:
                return Refusal(reason="TASK_NOT_VALID", detail="the task has ended")
            if not on:
                self._protections.release(arn)
                self.journal.note("released", task.service, task=task.id)
                return None
            refusal = self._protections.protect(
                arn,
                minutes=minutes,
                siblings={sibling.id for sibling in self._fleet.of(task.service)},
                desired=ecs._services[task.service]["desiredCount"],
                now=self._clock.now(),
            )
            kind = "protection refused" if refusal else "protected"
            self.journal.note(kind, task.service, task=task.id, reason=refusal.reason if refusal else "")
            return refusal

    def protected_until(self, arn: str) -> float | None:
        """Return when a task's protection ends in wall time, or None where it has none."""
        with self._lock:
            now = self._clock.now()
            if not self._protections.protected(arn, now):
                return None
            return time.time() + self._clock.wall(self._protections.expires[arn] - now)

    # The conducting thread.

    def run(self) -> None:
        """Conduct until the process ends; what goes wrong in one beat is logged, and the next goes on."""
        while True:
            try:
                with self._lock:
                    self._beat()
            except Exception:
                logger.exception("a beat failed")
            self._woken.wait(_TICK_WALL_S)
            self._woken.clear()

    def _beat(self) -> None:
        self._alarms.take()
        services = {_key(record): record for record in ecs._services.values() if record["status"] == "ACTIVE"}
        self._loop.desired.update({key: record["desiredCount"] for key, record in services.items()})
        self._loop.deploying = {
            key
            for key, record in services.items()
            if any(task.revision != _revision(record) for task in self._fleet.of(key))
        }
        for event in self._loop.step(self._clock.now()):
            self.journal.note(event.kind, event.subject, at=event.at, before=event.before, after=event.after)
            if event.kind == "alarm":
                self._alarms.show(event.subject, event.before, event.after)
            else:
                cluster, _, name = event.subject.partition("/")
                ecs._update_service({"cluster": cluster, "service": name, "desiredCount": int(event.after)})
        for arn in self._fleet.advance():
            self._protections.release(arn)
        for line in self._fleet.printed():
            measure(line)
        for key, record in services.items():
            self._schedule(key, record)

    def _schedule(self, key: str, record: dict[str, Any]) -> None:
        percents, now = record.get("deploymentConfiguration", {}), self._clock.now()
        service = Service(
            desired=record["desiredCount"],
            revision=_revision(record),
            min_healthy_percent=int(percents.get("minimumHealthyPercent", 100)),
            max_percent=int(percents.get("maximumPercent", 200)),
        )
        for action in schedule(service, self._fleet.of(key), lambda arn: self._protections.protected(arn, now)):
            if isinstance(action, Start):
                self._fleet.start(key, record, action)
            else:
                self.stop(action.task, action.reason)


def _revision(service: dict[str, Any]) -> str:
    return str(ecs._task_defs[ecs._resolve_td_key(service["taskDefinition"])]["taskDefinitionArn"])


def _key(service: dict[str, Any]) -> str:
    return f"{service['clusterArn'].rpartition('/')[2]}/{service['serviceName']}"
