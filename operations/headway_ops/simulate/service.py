"""One ECS service: its desired count, its tasks, and the service scheduler of the control-loop model."""

import random
from collections.abc import Callable
from typing import Protocol

from headway_ops.loop import Protections, Refusal, Service, Start, TaskState, schedule
from headway_ops.simulate.conditions import Conditions
from headway_ops.simulate.consumer import Consumer
from headway_ops.simulate.engine import Engine
from headway_ops.simulate.stage import ServiceShape
from headway_ops.simulate.worker import Worker

#: The stops that only the desired count caused; their victims must not have been at work.
_SCALE_IN = "scale in"


class Watching(Protocol):
    """Is told when a worker runs, and before it stops."""

    @property
    def began(self) -> Callable[[Worker], None]:
        """Let a new worker poll, now or once it may."""

    def stopping(self, worker: Worker) -> None:
        """Give up what has not started."""


class EcsService:
    """A service and its tasks.

    ``task_s``: seconds that tasks were billed for. ``busy_stops``: tasks that a scale-in stopped at work.
    ``refusals``: protections that were refused. ``under_busy_s``: how long fewer tasks were desired than were at work,
    while no deployment ran.
    """

    def __init__(
        self,
        engine: Engine,
        shape: ServiceShape,
        consumer: Consumer,
        conditions: Conditions,
        rng: random.Random,
        note: Callable[[str, str], None],
    ) -> None:
        self._engine, self._shape, self._consumer, self._conditions = engine, shape, consumer, conditions
        self._rng, self._note = rng, note
        self._protections = Protections()
        self._started = 0
        self._launches, self._launched = float(conditions.launch_burst), 0.0
        #: The sum of when those tasks were launched that have not ended.
        self._launched_at_s = 0.0
        self._alive = 0
        self._under_since: float | None = None
        self.guard: Watching
        self.workers: dict[str, Worker] = {}
        self.desired = shape.tasks
        self.revision = "1"
        self.deploying = False
        self.running = 0
        self.task_s = 0.0
        self.busy_stops = 0
        self.refusals = 0
        self.under_busy_s = 0.0
        consumer.emptied = self._ended

    @property
    def publish_every_s(self) -> int:
        """How often its tasks are counted, 0 where they take no turns with that."""
        return self._shape.publish_every_s

    def begin(self) -> None:
        """Put the first tasks there, running and idle."""
        for _ in range(self.desired):
            self._run(self._launch())

    def set_desired(self, count: int) -> None:
        """Change the desired count."""
        if count != self.desired:
            self._note("desired", str(count))
            self.desired = count
            self.watch()
            self.balance()

    def deploy(self, revision: str) -> None:
        """Roll out a new task definition."""
        self._note("deploy", revision)
        self.revision, self.deploying = revision, True
        self.balance()

    def protect(self, worker: Worker) -> Refusal | None:
        """Ask ECS for a worker's protection; return why not, where it was refused."""
        refusal = self._protections.protect(
            worker.id,
            minutes=max(round(self._shape.protection_s / 60), 1),
            siblings=self.workers.keys(),
            desired=self.desired,
            now=self._engine.now,
        )
        self.refusals += refusal is not None
        return refusal

    def release(self, worker: Worker) -> None:
        """End a worker's protection: it may have been all that kept it."""
        self._protections.release(worker.id)
        self.watch()
        self.balance()

    def protected(self) -> int:
        """Return how many tasks are protected."""
        return self._protections.total(self._engine.now)

    def busy(self) -> int:
        """Return how many tasks are at work: they hold a message that waits for no protection."""
        return sum(worker.busy > len(worker.pending) for worker in self.workers.values())

    def balance(self) -> None:
        """Let the service scheduler start and stop what it has to."""
        if self._alive == self.desired and not self.deploying:
            return
        now, protections = self._engine.now, self._protections
        service = Service(
            desired=self.desired,
            revision=self.revision,
            min_healthy_percent=self._shape.min_healthy_percent,
            max_percent=self._shape.max_percent,
        )
        tasks = [worker.seen for worker in self.workers.values()]
        for action in schedule(service, tasks, lambda id_: protections.protected(id_, now)):
            if isinstance(action, Start):
                for _ in range(action.count):
                    worker = self._launch()
                    self._engine.after(self._launch_delay(), self._run, worker)
            else:
                self._stop(self.workers[action.task], action.reason)
        self.deploying = self.deploying and any(
            worker.seen.revision != self.revision for worker in self.workers.values()
        )

    def watch(self) -> None:
        """Keep account of the time in which fewer tasks were desired than were protected at work."""
        if self._under_since is None and len(self.workers) <= self.desired:
            return  # no more can be at work than there are
        under = not self.deploying and self.busy() > self.desired
        now = self._engine.now
        if under and self._under_since is None:
            self._under_since = now
        elif not under and self._under_since is not None:
            self.under_busy_s += now - self._under_since
            self._under_since = None

    def billed_s(self) -> float:
        """Return the seconds that tasks were billed for until now, from the launch of each."""
        return self.task_s + len(self.workers) * self._engine.now - self._launched_at_s

    def settle(self) -> None:
        """Bill what still runs, at the end of the simulation."""
        self.watch()
        self.task_s = self.billed_s()

    def _launch(self) -> Worker:
        self._started += 1
        worker = Worker(f"task-{self._started}", self.revision, self._engine.now, self._shape.protection_s)
        self.workers[worker.id] = worker
        self._launched_at_s += worker.launched
        self._alive += 1
        return worker

    def _launch_delay(self) -> float:
        """Draw a start time, behind those that the launch rate keeps waiting."""
        now, conditions = self._engine.now, self._conditions
        refilled = self._launches + (now - self._launched) * conditions.launches_per_s
        self._launches, self._launched = min(refilled, conditions.launch_burst) - 1, now
        waiting_s = max(0.0, -self._launches / conditions.launches_per_s)
        return waiting_s + self._rng.uniform(*conditions.task_start_s)

    def _run(self, worker: Worker) -> None:
        if worker.seen.state is not TaskState.STARTING:
            return
        worker.become(TaskState.RUNNING)
        self.running += 1
        self.guard.began(worker)
        if self.deploying:
            self.balance()

    def _stop(self, worker: Worker, reason: str) -> None:
        self.busy_stops += reason == _SCALE_IN and any(holding.begun for holding in worker.held)
        was = worker.seen.state
        self._alive -= 1
        worker.become(TaskState.STOPPING)
        if was is TaskState.STARTING:
            self._engine.after(0.0, self._end, worker)
            return
        self.running -= 1
        self._consumer.leave(worker)
        self.guard.stopping(worker)
        if worker.busy:
            self._engine.after(self._shape.stop_timeout_s, self._kill, worker)
        else:
            self._engine.after(self._conditions.task_exit_s, self._end, worker)

    def _ended(self, worker: Worker) -> None:
        self._engine.after(self._conditions.task_exit_s, self._end, worker)

    def _kill(self, worker: Worker) -> None:
        if worker.id in self.workers and worker.busy:
            self._consumer.kill(worker)
            self._end(worker)

    def _end(self, worker: Worker) -> None:
        if self.workers.pop(worker.id, None):
            self._protections.release(worker.id)
            self._launched_at_s -= worker.launched
            self.task_s += self._engine.now - worker.launched
            self.balance()
