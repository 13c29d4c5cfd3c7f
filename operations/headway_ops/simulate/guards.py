"""Who asks for protection when: the worker's own rules, and those of the workers that others run."""

import random

from headway.scaling.turns import hush_left_s
from headway.worker.protection import LINGER_S, Action, Admission, away_s
from headway_ops.simulate.conditions import Conditions
from headway_ops.simulate.consumer import Consumer
from headway_ops.simulate.engine import Engine
from headway_ops.simulate.service import EcsService
from headway_ops.simulate.shape import Guard
from headway_ops.simulate.worker import Holding, Worker


class NoGuard:
    """Work starts at once, and nothing is protected."""

    def __init__(self, consumer: Consumer) -> None:
        self._start, self.began = consumer.start, consumer.join

    def admit(self, holding: Holding, delay: float) -> None:
        """Start."""
        self._start(holding, delay)

    def settled(self, worker: Worker) -> None:
        """Nothing to know."""

    def stopping(self, worker: Worker) -> None:
        """Nothing to give up."""


class Barrier:
    """Headway's worker: work starts only under a confirmed protection (``headway.worker.protection``).

    While its question is not answered, and for a while after a refusal, it does not poll (``headway.worker.guard``).
    """

    def __init__(
        self, engine: Engine, consumer: Consumer, service: EcsService, conditions: Conditions, rng: random.Random
    ) -> None:
        self._engine, self._consumer, self._service = engine, consumer, service
        self._protect_s, self._uniform = conditions.protect_s, rng.uniform

    def began(self, worker: Worker) -> None:
        """Ask before the first poll: a worker that was refused costs no message a receive."""
        worker.note(worker.protection.seen(self._engine.now, busy=0))
        self._ask(worker)

    def admit(self, holding: Holding, delay: float) -> None:
        """Start under a protection that holds, wait for one that is asked for, or go back after a refusal."""
        worker, now = holding.worker, self._engine.now
        if worker.busy == 1:
            worker.note(worker.protection.seen(now, busy=1))
            self._renew(worker)  # it may have been due while the worker was idle
        match worker.protection.admission(now):
            case Admission.START:
                self._consumer.start(holding, delay)
            case Admission.HAND_BACK:
                self._consumer.hand_back(holding, away_s(holding.message.receives))
            case Admission.WAIT:
                worker.pending.append(holding)
                self._consumer.leave(worker)
                self._ask(worker)

    def settled(self, worker: Worker) -> None:
        """Let the protection go a while after the last message."""
        if not worker.busy:
            worker.note(worker.protection.seen(self._engine.now, busy=0))
            self._service.watch()
            self._engine.after(LINGER_S, self._release, worker)

    def stopping(self, worker: Worker) -> None:
        """Hand back what waits for a protection that will not come."""
        pending, worker.pending = worker.pending, []
        for holding in pending:
            self._consumer.hand_back(holding, away_s(holding.message.receives))

    def _ask(self, worker: Worker) -> None:
        now, every_s = self._engine.now, self._service.publish_every_s
        idle = not worker.busy and now >= worker.protected_until
        if idle and every_s and (hush_s := hush_left_s(now, every_s)):
            self._engine.after(hush_s, self._ask, worker)
        elif not worker.asking:
            worker.asking = True
            self._engine.after(self._uniform(*self._protect_s), self._answer, worker)

    def _answer(self, worker: Worker) -> None:
        worker.asking = False
        if not worker.accepting:
            return
        now = self._engine.now
        if self._service.protect(worker):
            worker.note(worker.protection.refused(now))
            self.stopping(worker)
            self._engine.at(worker.protection.refused_until, self._ask_again, worker)
            return
        worker.note(worker.protection.granted(now))
        self._engine.at(worker.protection.renew_at, self._renew, worker)
        pending, worker.pending = worker.pending, []
        for holding in pending:
            self._consumer.start(holding, 0.0)
        self._service.watch()
        self._consumer.join(worker)
        if not worker.busy:
            self._engine.after(LINGER_S, self._release, worker)

    def _ask_again(self, worker: Worker) -> None:
        if worker.protection.action(self._engine.now) is Action.ACQUIRE:
            self._ask(worker)

    def _renew(self, worker: Worker) -> None:
        if worker.protection.action(self._engine.now) is Action.RENEW:
            self._ask(worker)

    def _release(self, worker: Worker) -> None:
        now = self._engine.now
        if worker.protection.action(now) is Action.RELEASE:
            worker.note(worker.protection.releasing(now).released())
            self._service.release(worker)


class Hasty:
    """A worker that asks for protection and works on, whatever the answer."""

    def __init__(self, consumer: Consumer, service: EcsService, *, per_message: bool) -> None:
        self._start, self._service, self._per_message = consumer.start, service, per_message
        self.began = consumer.join

    def admit(self, holding: Holding, delay: float) -> None:
        """Ask, and start."""
        self._service.protect(holding.worker)
        self._start(holding, delay)
        self._service.watch()

    def settled(self, worker: Worker) -> None:
        """End the protection with the last message, or with any."""
        if self._per_message or not worker.busy:
            self._service.release(worker)

    def stopping(self, worker: Worker) -> None:
        """Nothing to give up."""


def guard_for(
    guard: Guard,
    engine: Engine,
    consumer: Consumer,
    service: EcsService,
    conditions: Conditions,
    rng: random.Random,
) -> NoGuard | Barrier | Hasty:
    """Return the guard of a fleet's workers."""
    match guard:
        case Guard.BARRIER:
            return Barrier(engine, consumer, service, conditions, rng)
        case Guard.COUNTED | Guard.PER_MESSAGE:
            return Hasty(consumer, service, per_message=guard is Guard.PER_MESSAGE)
        case Guard.NONE:
            return NoGuard(consumer)
