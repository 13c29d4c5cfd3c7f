"""Who asks for messages: workers with a long poll open, lazy ones that look now and then, and those that pause."""

import math
import random
from collections.abc import Callable

from headway.scaling.packing import lazy
from headway.scaling.turns import hush_left_s
from headway_ops.simulate.engine import Engine
from headway_ops.simulate.stage import ServiceShape
from headway_ops.simulate.worker import Worker


class Polls:
    """The polls of one service's workers; ``look`` is called where a lazy worker's time to look has come."""

    __slots__ = (
        "_eager_s",
        "_engine",
        "_every_s",
        "_lazy",
        "_lazy_after_s",
        "_lazy_below",
        "_lazy_poll_s",
        "_look",
        "_open",
        "_random",
        "_slots",
        "_wait_s",
    )

    def __init__(
        self, engine: Engine, service: ServiceShape, rng: random.Random, look: Callable[[Worker], None]
    ) -> None:
        self._engine, self._random, self._look = engine, rng.random, look
        self._slots, self._wait_s = service.concurrency, service.wait_time_s
        self._lazy_below, self._lazy_after_s = service.lazy_below, service.lazy_after_s
        self._lazy_poll_s = service.lazy_poll_s
        #: How long after a message an open poll is followed by another.
        self._eager_s = service.lazy_after_s if service.lazy_below else math.inf
        self._every_s = service.publish_every_s
        #: In no order: ``Worker.place`` is where each stands.
        self._open: list[Worker] = []
        self._lazy: dict[str, Worker] = {}

    def taker(self) -> Worker | None:
        """Return the worker whose open poll gets a message, as SQS alone knows why; None where none is open."""
        polls = self._open
        while polls:
            worker = polls[int(self._random() * len(polls))]
            if self._engine.now < worker.received_at + self._eager_s + worker.ends_s:
                return worker
            self._close(worker)  # its last poll has ended: that is looked at where it matters, and costs no event
            self.begin(worker)
        return None

    def wake(self) -> None:
        """Have lazy workers look at their next times, each as likely now as at any moment of its interval."""
        for worker in self._lazy.values():
            if not worker.looks:
                worker.looks = True
                self._engine.after(self._random() * self._lazy_poll_s, self._looked, worker)

    def hushed(self, worker: Worker) -> bool:
        """Return whether an idle worker must not look now, because the fleet is being counted; it looks after that."""
        hush_s = hush_left_s(self._engine.now, self._every_s) if self._every_s and self._lazy_below else 0.0
        if hush_s:
            self.begin(worker)
            if not worker.looks:
                worker.looks = True
                self._engine.after(hush_s + self._random() * self._lazy_poll_s, self._looked, worker)
        return hush_s > 0

    def begin(self, worker: Worker) -> None:
        """Let a worker with a free slot poll, each in its way; one that does already goes on."""
        if worker.place >= 0 or worker.id in self._lazy:
            return
        if self._is_lazy(worker):
            self._lazy[worker.id] = worker
            return
        worker.place, worker.ends_s = len(self._open), self._random() * self._wait_s
        self._open.append(worker)

    def end(self, worker: Worker) -> None:
        """Let a worker poll no more."""
        self._lazy.pop(worker.id, None)
        if worker.place >= 0:
            self._close(worker)

    def received(self, worker: Worker) -> None:
        """Know that a worker holds one message more."""
        worker.received_at = self._engine.now
        if worker.busy == self._slots:
            self.end(worker)
        elif worker.busy >= self._lazy_below and worker.id in self._lazy:
            del self._lazy[worker.id]
            self.begin(worker)

    def freed(self, worker: Worker) -> None:
        """Know that a worker has a slot free: it polls, and where it is lazy now, as one once its open poll ends."""
        if worker.place >= 0 and worker.busy == self._lazy_below - 1:
            self._engine.after(self._random() * self._wait_s, self._tire, worker)
        else:
            self.begin(worker)

    def _is_lazy(self, worker: Worker) -> bool:
        quiet_s = self._engine.now - worker.received_at
        return lazy(worker.busy, quiet_s, below=self._lazy_below, after_s=self._lazy_after_s)

    def _tire(self, worker: Worker) -> None:
        if worker.place >= 0 and self._is_lazy(worker):
            self._close(worker)
            self.begin(worker)

    def _looked(self, worker: Worker) -> None:
        worker.looks = False
        if worker.id in self._lazy:
            self._look(worker)

    def _close(self, worker: Worker) -> None:
        last = self._open.pop()
        if last is not worker:
            last.place = worker.place
            self._open[worker.place] = last
        worker.place = -1
