"""A fleet of real workers, kept at its size as ECS would: what ends is replaced, what ignores SIGTERM is killed."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from headway_ops.local.processes import Ledger, signal_group, spawn


@dataclass(frozen=True, kw_only=True)
class Hit:
    """Something was killed: a whole task, or one process of its pool."""

    at: float
    task: str


@dataclass
class Task:
    """One worker, in a session of its own as in a container of its own."""

    name: str
    lane: str
    process: subprocess.Popen[bytes]
    kill_at: float | None = None


class Fleet:
    """As many tasks as ``lanes`` has entries. ``variables`` returns a task's environment by its lane and its name."""

    def __init__(
        self,
        lanes: Sequence[str],
        variables: Callable[[str, str], dict[str, str]],
        directory: Path,
        *,
        stop_timeout_s: float,
    ) -> None:
        self._variables, self._directory = variables, directory
        self._ledger = Ledger(directory / "processes")
        self._stop_timeout_s = stop_timeout_s
        self._started = 0
        self.hits: list[Hit] = []
        #: Exit codes of the tasks that ended.
        self.exits: list[int] = []
        #: Tasks that were still there when their stop was over.
        self.overstayed = 0
        self.tasks = [self._start(lane) for lane in lanes]
        #: Tasks that were told to stop, while their replacements run already.
        self._stopping: list[Task] = []

    def _start(self, lane: str) -> Task:
        self._started += 1
        name = f"{lane}-{self._started}"
        process = spawn(
            [sys.executable, "-m", "headway.worker"],
            env=self._variables(lane, name),
            log=self._directory / f"{name}.log",
            ledger=self._ledger,
        )
        return Task(name=name, lane=lane, process=process)

    def keep(self) -> None:
        """Replace what has ended, and kill what has not ended in time."""
        self._stopping = [task for task in self._stopping if not self._has_ended(task)]
        for number, task in enumerate(self.tasks):
            if self._has_ended(task):
                self.tasks[number] = self._start(task.lane)

    def kill(self, draw: random.Random) -> None:
        """Kill one task with everything in it, as the kernel does when a container is killed."""
        task = draw.choice(self.tasks)
        self.hits.append(Hit(at=time.time(), task=task.name))
        signal_group(task.process, signal.SIGKILL)

    def kill_child(self, draw: random.Random) -> None:
        """Kill one process of a pool, as the kernel does when memory is short."""
        task = draw.choice(self.tasks)
        children = psutil.Process(task.process.pid).children() if task.process.poll() is None else []
        if children:
            self.hits.append(Hit(at=time.time(), task=task.name))
            draw.choice(children).kill()

    def deploy(self, draw: random.Random) -> None:
        """Start a task anew as a deployment does: the new one beside the old one, which gets SIGTERM."""
        number = draw.randrange(len(self.tasks))
        old = self.tasks[number]
        self._stop(old)
        self._stopping.append(old)
        self.tasks[number] = self._start(old.lane)

    def end(self) -> None:
        """Stop every task and wait until it has ended."""
        self._stopping += self.tasks
        self.tasks = []
        for task in self._stopping:
            self._stop(task)
        while self._stopping:
            self.keep()
            time.sleep(0.05)

    def _stop(self, task: Task) -> None:
        """Send SIGTERM; SIGKILL follows when the stop's time is over."""
        if task.kill_at is None and task.process.poll() is None:
            task.kill_at = time.monotonic() + self._stop_timeout_s
            task.process.send_signal(signal.SIGTERM)

    def _has_ended(self, task: Task) -> bool:
        if task.process.poll() is None:
            if task.kill_at is not None and time.monotonic() > task.kill_at:
                self.overstayed += 1
                self.hits.append(Hit(at=time.time(), task=task.name))
                signal_group(task.process, signal.SIGKILL)
                task.kill_at = float("inf")
            return False
        signal_group(task.process, signal.SIGKILL)  # a container takes its orphans with it
        self.exits.append(task.process.returncode)
        return True
