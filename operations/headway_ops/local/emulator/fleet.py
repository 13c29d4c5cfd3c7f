"""Every service's tasks and those that run once, as local processes and as the records that the ECS API shows."""

import http
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ministack.services import ecs

from headway_ops.local.emulator.config import EmulatorConfig
from headway_ops.local.emulator.journal import Journal
from headway_ops.local.emulator.stage_time import StageTime
from headway_ops.local.emulator.tasks import LocalTask
from headway_ops.local.processes import Ledger
from headway_ops.loop import Start, Task, TaskState, throttle_s


class Fleet:
    """Starts and stops tasks, and keeps ECS's own records true. Services are named ``cluster/service``."""

    def __init__(self, config: EmulatorConfig, clock: StageTime, journal: Journal) -> None:
        self._config = config
        self._clock = clock
        self._journal = journal
        self._tasks: dict[str, LocalTask] = {}
        #: Tasks whose last lines nobody has looked at yet.
        self._ended: list[LocalTask] = []
        self._failures: Counter[str] = Counter()
        self._ledger = Ledger(config.ledger)
        self._random = random.Random(config.seed)  # noqa: S311  # task start times, not secrets

    def find(self, arn: str) -> LocalTask | None:
        """Return a live task, or None."""
        return self._tasks.get(arn)

    def arn_of(self, task_id: str) -> str | None:
        """Return a live task's ARN by its id, or None."""
        return next((arn for arn, task in self._tasks.items() if task.id == task_id), None)

    def of(self, service: str) -> list[Task]:
        """Return a service's tasks as the scheduler sees them."""
        return [task.seen(arn) for arn, task in self._tasks.items() if task.service == service]

    def addresses(self) -> list[tuple[str, int]]:
        """Return where the running tasks listen, of those that do."""
        return [task.address for task in self._tasks.values() if task.address and task.state is TaskState.RUNNING]

    def start(self, service: str, record: dict[str, Any], action: Start) -> None:
        """Start tasks of a service; each process begins after its start delay."""
        cluster, _, name = service.partition("/")
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
        self._take(answer, service, action.revision)
        ecs._refresh_service_state(cluster, f"service:{name}")

    def run(self, request: Mapping[str, Any]) -> Any:
        """Start tasks that belong to no service and end by themselves; return the ECS API's answer."""
        answer = ecs._run_task(dict(request))
        if answer[0] == http.HTTPStatus.OK:
            revision = request["taskDefinition"]
            cluster, (family, _) = (
                ecs._resolve_cluster_name(request["cluster"]),
                ecs._resolve_td_key(revision).split(":"),
            )
            self._take(answer, f"{cluster}/{family}", revision)
        return answer

    def running(self, revision: str) -> int:
        """Return how many tasks of a definition there are."""
        arn = ecs._task_defs[ecs._resolve_td_key(revision)]["taskDefinitionArn"]
        return sum(task.seen(own).revision == arn for own, task in self._tasks.items())

    def _take(self, answer: Any, group: str, revision: str) -> None:
        definition = ecs._task_defs[ecs._resolve_td_key(revision)]
        for started in json.loads(answer[2])["tasks"]:
            arn = started["taskArn"]
            # Without a container engine the emulator shows a task as running at once.
            ecs._tasks[arn]["lastStatus"] = "PENDING"
            task = LocalTask(
                arn=arn,
                service=group,
                definition=definition,
                config=self._config,
                ledger=self._ledger,
                due=self._clock.now() + self._start_delay_s(group),
            )
            self._tasks[arn] = task
            self._journal.note("starting" if _is_service(group) else "run", group, task=task.id)

    def stop(self, arn: str, reason: str, *, protected: bool) -> None:
        """Begin to stop a task; one that is unknown or stopping already is fine."""
        task = self._tasks.get(arn)
        if task and task.state is not TaskState.STOPPING:
            self._journal.note("stopping", task.service, task=task.id, reason=reason, protected=protected)
            task.terminate(self._clock)

    def advance(self) -> Iterator[str]:
        """Start, kill and bury processes where their time has come; yield the ARN of each task that has ended."""
        for arn, task in list(self._tasks.items()):
            if not task.advance(self._clock):
                continue
            if task.state is TaskState.RUNNING:
                self._show_running(arn, task)
            else:
                self._show_stopped(arn, task)
                yield arn

    def printed(self) -> list[str]:
        """Return the lines that tasks have printed since the last look, with the last ones of those that ended."""
        looked_at, self._ended = [*self._ended, *self._tasks.values()], []
        return [line for task in looked_at for line in task.printed()]

    def _start_delay_s(self, service: str) -> float:
        delay = self._random.uniform(self._config.task_start_min_s, self._config.task_start_max_s)
        return delay + throttle_s(self._failures[service])

    def _show_running(self, arn: str, task: LocalTask) -> None:
        ecs._mark_task_running(arn, ecs._tasks[arn])
        ecs._tasks[arn]["_startup_stable"] = True
        if _is_service(task.service):
            self._journal.note("running", task.service, task=task.id)
            ecs._complete_service_deployment(task.service.partition("/")[0], task.service)

    def _show_stopped(self, arn: str, task: LocalTask) -> None:
        code, asked = task.exit_code, task.stop_asked
        stop_code = "ServiceSchedulerInitiated" if asked else ""
        ecs._mark_task_stopped(arn, ecs._tasks[arn], task.failure, stop_code, exit_code=code)
        if _is_service(task.service):
            self._failures[task.service] = 0 if asked else self._failures[task.service] + 1
            self._journal.note("stopped", task.service, task=task.id, exit_code=code, asked=asked, killed=task.killed)
        else:
            self._journal.note("ended", task.service, task=task.id, exit_code=code)
        self._ended.append(self._tasks.pop(arn))


def _is_service(group: str) -> bool:
    return group in ecs._services
