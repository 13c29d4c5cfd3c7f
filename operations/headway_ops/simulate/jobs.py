"""The jobs of a run: each comes as one interactive message, fans out into heavy ones, and is done with its last."""

import math
from collections.abc import Callable, Iterator

from headway_ops.simulate.engine import Engine
from headway_ops.simulate.lane import Message
from headway_ops.simulate.waits import Waits
from headway_ops.simulate.workload import Job


class Jobs:
    """Sends jobs as they were drawn, and counts what becomes of them; the last one's end stops the engine.

    ``split``: one heavy message is one call; else it is one block. ``sent``, ``unfinished``, ``failed`` count jobs;
    ``first_s`` is when the first came, NaN before.
    """

    def __init__(
        self,
        engine: Engine,
        drawn: Iterator[Job],
        *,
        split: bool,
        interactive: Callable[[Message], None],
        heavy: Callable[[Message], None],
    ) -> None:
        self._engine, self._drawn, self._split = engine, drawn, split
        self._interactive, self._heavy = interactive, heavy
        self.makespans = Waits(resolution_s=1.0)
        self.sent = self.unfinished = self.failed = 0
        self.first_s = math.nan
        self.all_sent = False

    def next(self) -> None:
        """Have the next job come at its time."""
        job = next(self._drawn, None)
        if job is None:
            self.all_sent = True
            self._end_when_done()
        else:
            self._engine.at(job.arrived, self._arrive, job)

    def settled(self, message: Message) -> None:
        """Know that a message is worked off: an interactive one sends its job's heavy ones."""
        job = message.job
        if not message.calls:
            now, heavy = self._engine.now, self._heavy
            for block in job.blocks:
                for calls in [(call,) for call in block] if self._split else (block,):
                    job.open += 1
                    heavy(Message(job, calls, now))
        self._close(job)

    def lost(self, message: Message) -> None:
        """Give up a job of which one message can never be done."""
        message.job.failed = True
        self._close(message.job)

    def _arrive(self, job: Job) -> None:
        if not self.sent:
            self.first_s = job.arrived
        self.sent += 1
        self.unfinished += 1
        job.open = 1
        self._interactive(Message(job, (), job.arrived))
        self.next()

    def _close(self, job: Job) -> None:
        """Count one of a job's messages as done with."""
        job.open -= 1
        if not job.open:
            self.unfinished -= 1
            self.failed += job.failed
            self.makespans.add(self._engine.now - job.arrived)
            self._end_when_done()

    def _end_when_done(self) -> None:
        if self.all_sent and not self.unfinished:
            self._engine.stop()
