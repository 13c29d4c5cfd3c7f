"""Tasks as local processes, started and stopped as the control loop and the service scheduler say.

One thread conducts; the API's and the agent's threads only leave notes with it, under its lock.
"""

import json
import random
import threading
import time
from collections import Counter
from typing import Any

from ministack.services import cloudwatch, ecs

from headway_ops.local.emulator.config import EmulatorConfig
from headway_ops.local.emulator.stage_time import StageTime
from headway_ops.local.emulator.tasks import LocalTask
from headway_ops.local.processes import Ledger
from headway_ops.loop import (
    ControlLoop,
    MetricKey,
    Protections,
    Refusal,
    Service,
    Start,
    StepPolicy,
    Target,
    TaskState,
    schedule,
    template,
    throttle_s,
)

_TICK_WALL_S = 0.05


class Conductor:
    """The stage's control loop on wall time."""

    def __init__(self, config: EmulatorConfig, clock: StageTime) -> None:
        self._config = config
        self._clock = clock
        self._loop = ControlLoop()
        self._protections = Protections()
        self._alarms: dict[str, dict[str, Any]] = {}
        self._tasks: dict[str, LocalTask] = {}
        self._failures: Counter[str] = Counter()
        self._ledger = Ledger(config.ledger)
        self._random = random.Random(config.seed)  # noqa: S311  # task start times, not secrets
        self._lock = threading.RLock()
        self._woken = threading.Event()

    # What other threads may ask.

    def wake(self) -> None:
        """Look at the services soon: one has changed."""
        self._woken.set()

    def put(self, metric: MetricKey, value: float) -> None:
        """Record a datapoint at the present stage time."""
        with self._lock:
            self._loop.put(metric, value, self._clock.now())

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

    def protect(self, arn: str, *, on: bool, minutes: int | None) -> Refusal | None:
        """Protect or release a task; return why not, where it was refused."""
        with self._lock:
            task = self._tasks[arn]
            if not on:
                self._protections.release(arn)
                self.note("released", task.service, task=task.id)
                return None
            siblings = {a for a, t in self._tasks.items() if t.service == task.service}
            desired = self._service(task.service)["desiredCount"]
            refusal = self._protections.protect(
                arn, minutes=minutes, siblings=siblings, desired=desired, now=self._clock.now()
            )
            kind = "protection refused" if refusal else "protected"
            self.note(kind, task.service, task=task.id, reason=refusal.reason if refusal else "")
            return refusal

    def protected_until(self, arn: str) -> float | None:
        """Return when a task's protection ends in wall time, or None where it has none."""
        with self._lock:
            now = self._clock.now()
            if not self._protections.protected(arn, now):
                return None
            return time.time() + self._clock.wall(self._protections.expires[arn] - now)

    def arn_of(self, task_id: str) -> str | None:
        """Return the ARN of a live task."""
        with self._lock:
            return next((arn for arn, task in self._tasks.items() if task.id == task_id), None)

    def stop(self, arn: str, reason: str) -> None:
        """Begin to stop a task; an unknown one is fine."""
        with self._lock:
            task = self._tasks.get(arn)
            if task and task.state is not TaskState.STOPPING:
                protected = self._protections.protected(arn, self._clock.now())
                self.note("stopping", task.service, task=task.id, reason=reason, protected=protected)
                task.terminate(self._clock)

    def note(self, kind: str, subject: str, **details: Any) -> None:
        """Write down what happened, for whoever watches the stage."""
        line = {"at": round(self._clock.now(), 3), "wall": time.time(), "kind": kind, "subject": subject, **details}
        with self._config.events.open("a", encoding="utf-8") as events:
            events.write(json.dumps(line) + "\n")

    # The conducting thread.

    def run(self) -> None:
        """Conduct until the process ends."""
        while True:
            with self._lock:
                self._beat()
            self._woken.wait(_TICK_WALL_S)
            self._woken.clear()

    def _beat(self) -> None:
        now = self._clock.now()
        self._take_alarms()
        for service in ecs._services.values():
            self._loop.desired[self._key(service)] = service["desiredCount"]
        for event in self._loop.step(now):
            self.note(event.kind, event.subject, before=event.before, after=event.after)
            if event.kind == "alarm":
                self._show_alarm(event.subject, event.before, event.after)
            else:
                cluster, _, name = event.subject.partition("/")
                ecs._update_service({"cluster": cluster, "service": name, "desiredCount": int(event.after)})
        for arn, task in list(self._tasks.items()):
            if task.advance(self._clock):
                self._show_task(arn, task)
        for service in list(ecs._services.values()):
            if service["status"] == "ACTIVE":
                self._schedule(service, now)

    def _schedule(self, record: dict[str, Any], now: float) -> None:
        key = self._key(record)
        tasks = [task.seen(arn) for arn, task in self._tasks.items() if task.service == key]
        percents = record.get("deploymentConfiguration", {})
        service = Service(
            desired=record["desiredCount"],
            revision=ecs._task_defs[ecs._resolve_td_key(record["taskDefinition"])]["taskDefinitionArn"],
            min_healthy_percent=int(percents.get("minimumHealthyPercent", 100)),
            max_percent=int(percents.get("maximumPercent", 200)),
        )
        for action in schedule(service, tasks, lambda arn: self._protections.protected(arn, now)):
            if isinstance(action, Start):
                self._start(record, action)
            else:
                self.stop(action.task, action.reason)

    def _start(self, record: dict[str, Any], action: Start) -> None:
        cluster, _, name = self._key(record).partition("/")
        deployment = ecs._primary_deployment(record)
        answer = ecs._run_task(
            {
                "cluster": cluster,
                "taskDefinition": action.revision,
                "count": action.count,
                "group": f"service:{name}",
                "startedBy": name,
                "launchType": "FARGATE",
                "networkConfiguration": record.get("networkConfiguration", {}),
                "_deploymentId": deployment["id"] if deployment else None,
            }
        )
        definition = ecs._task_defs[ecs._resolve_td_key(action.revision)]
        for started in json.loads(answer[2])["tasks"]:
            arn = started["taskArn"]
            delay = self._random.uniform(self._config.task_start_min_s, self._config.task_start_max_s)
            delay += throttle_s(self._failures[self._key(record)])
            task = LocalTask(
                arn=arn,
                service=self._key(record),
                definition=definition,
                config=self._config,
                ledger=self._ledger,
                due=self._clock.now() + delay,
            )
            ecs._tasks[arn]["lastStatus"] = "PENDING"
            self._tasks[arn] = task
            self.note("starting", task.service, task=task.id)
        ecs._refresh_service_state(cluster, f"service:{name}")

    def _show_task(self, arn: str, task: LocalTask) -> None:
        record = ecs._tasks[arn]
        if task.state is TaskState.RUNNING:
            ecs._mark_task_running(arn, record)
            record["_startup_stable"] = True
            self.note("running", task.service, task=task.id)
            cluster, _, name = task.service.partition("/")
            ecs._complete_service_deployment(cluster, f"{cluster}/{name}")
            return
        code = task.exit_code
        asked = task.stop_asked
        ecs._mark_task_stopped(arn, record, "", "ServiceSchedulerInitiated" if asked else "", exit_code=code)
        self._failures[task.service] = 0 if asked else self._failures[task.service] + 1
        self.note("stopped", task.service, task=task.id, exit_code=code, asked=asked, killed=task.killed)
        self._protections.release(arn)
        del self._tasks[arn]

    def _take_alarms(self) -> None:
        for name, record in list(cloudwatch._alarms.items()):
            definition = {k: v for k, v in record.items() if not k.startswith("State")}
            if self._alarms.get(name) != definition:
                self._alarms[name] = definition
                self._loop.add_alarm(template.alarm(name, record))
        for name in self._alarms.keys() - set(cloudwatch._alarms.keys()):
            del self._alarms[name]
            self._loop.remove(name)

    def _show_alarm(self, name: str, before: str, after: str) -> None:
        reason = "evaluated by the control-loop model"
        cloudwatch._alarms[name].update(StateValue=after, StateReason=reason, StateUpdatedTimestamp=int(time.time()))
        cloudwatch._record_history(name, before, after, reason)

    def _service(self, key: str) -> dict[str, Any]:
        service: dict[str, Any] = ecs._services[key]
        return service

    @staticmethod
    def _key(service: dict[str, Any]) -> str:
        return f"{service['clusterArn'].rpartition('/')[2]}/{service['serviceName']}"
