"""Workers that poll their lanes: who takes a message, when its calls begin, and what becomes of it."""

import random
from collections.abc import Callable, Sequence
from typing import Protocol

from headway_ops.simulate.calling import Calling
from headway_ops.simulate.calls import Calls
from headway_ops.simulate.conditions import Conditions
from headway_ops.simulate.engine import Engine
from headway_ops.simulate.lane import Lane, Message
from headway_ops.simulate.polls import Polls
from headway_ops.simulate.shape import FleetShape
from headway_ops.simulate.stage import ServiceShape
from headway_ops.simulate.waits import Waits
from headway_ops.simulate.worker import Holding, Worker


class Admitting(Protocol):
    """Decides when a message's work may start, and is told of what it has to know for that."""

    def admit(self, holding: Holding, delay: float) -> None:
        """Start a message's work in ``delay`` seconds, later, or never, by way of the consumer."""

    def settled(self, worker: Worker) -> None:
        """Know that one of the worker's messages is done; ``worker.busy`` is how many are left."""


class Consumer:
    """The workers of one service and the lanes they poll, in the order they prefer them."""

    def __init__(
        self,
        engine: Engine,
        service: ServiceShape,
        shape: FleetShape,
        lanes: Sequence[Lane],
        *,
        calls: Calls,
        waits: tuple[Waits, Waits],
        conditions: Conditions,
        rng: random.Random,
        settled: Callable[[Message], None],
        failed: Callable[[Message], None],
    ) -> None:
        self._engine, self._service, self._shape, self._lanes = engine, service, shape, lanes
        self._settled, self._failed = settled, failed
        self._random = rng.random
        self._fast_waits, heavy_waits = waits
        self._calling = Calling(
            engine,
            calls,
            heavy_waits,
            rng,
            abreast=service.max_inflight,
            leases=shape.leases,
            done=self._done,
            failed=self._given_up,
        )
        self._pickup_s, self._pickup_more_s = conditions.pickup_s[0], conditions.pickup_s[1] - conditions.pickup_s[0]
        self._polling_s, self._slots = service.polling_interval_s, service.concurrency
        self._polls = Polls(engine, service, rng, self.join)
        self.guard: Admitting
        #: Told when a worker that was asked to stop holds nothing any more.
        self.emptied: Callable[[Worker], None]
        self.redelivered = 0
        self.lost = 0

    @property
    def slots(self) -> int:
        """The messages that one worker works on at once."""
        return self._slots

    def send(self, lane: Lane, message: Message) -> None:
        """Put a message into a lane: one of the open long polls takes it, SQS alone knows which."""
        worker = self._polls.taker()
        if worker:
            self._receive(worker, lane, message, self._pickup_s + self._pickup_more_s * self._random())
        else:
            lane.waiting.append(message)
            self._polls.wake()

    def join(self, worker: Worker) -> None:
        """Let a worker begin to poll, unless it is stopping."""
        if not worker.accepting:
            return
        worker.paused = False
        if not worker.busy and self._polls.hushed(worker):
            return
        for lane in self._lanes:
            while lane.waiting and worker.busy < self._slots and not worker.paused:
                self._receive(worker, lane, lane.waiting.popleft(), self._random() * self._polling_s)
        if worker.busy < self._slots and not worker.paused:
            self._polls.begin(worker)

    def leave(self, worker: Worker) -> None:
        """Let a worker pause its polls; what it holds goes on."""
        worker.paused = True
        self._polls.end(worker)

    def start(self, holding: Holding, delay: float) -> None:
        """Begin a message's work in ``delay`` seconds."""
        message = holding.message
        if not message.calls:
            if message.wait < 0:
                message.wait = self._engine.now + delay - message.sent_at
                self._fast_waits.add(message.wait)
            self._engine.after(delay + message.job.fast_s, self._done, holding)
            return
        if not self._shape.extends:
            self._engine.after(self._service.lane.visibility_timeout_s, self._lapse, holding)
        self._calling.start(holding, delay)

    def hand_back(self, holding: Holding, away_s: float) -> None:
        """Give a message back before its work started, hidden for ``away_s``."""
        self._drop(holding)
        self._return(holding, away_s)
        self._free(holding.worker)

    def kill(self, worker: Worker) -> None:
        """End a worker at once. A worker that extends hands back just before; else visibility has to run out."""
        for holding in tuple(worker.held):
            self.lost += holding.begun > 0
            self._calling.drop(holding)
            self._drop(holding)
            if not holding.lapsed:
                self._return(holding, 0.0 if self._shape.extends else self._service.lane.visibility_timeout_s)
        worker.busy = 0
        self._calling.let_in()

    def _receive(self, worker: Worker, lane: Lane, message: Message, delay: float) -> None:
        lane.in_flight += 1
        message.receives += 1
        holding = Holding(message, lane, worker)
        worker.held[holding] = None
        worker.busy += 1
        self._polls.received(worker)
        if worker.busy > 1 and self._engine.now < worker.protected_until:
            self.start(holding, delay)
        else:
            self.guard.admit(holding, delay)

    def _given_up(self, holding: Holding) -> None:
        """Know that a message's work can never be done."""
        self._drop(holding)
        holding.lane.in_flight -= not holding.lapsed
        if not holding.message.done:
            holding.message.done = True
            self._failed(holding.message)
        self._free(holding.worker)

    def _done(self, holding: Holding) -> None:
        if not holding.alive:
            return
        message = holding.message
        holding.alive = False
        del holding.worker.held[holding]
        if not holding.lapsed:
            holding.lane.in_flight -= 1
        if not message.done:
            message.done = True
            self._settled(message)
        self._free(holding.worker)

    def _free(self, worker: Worker) -> None:
        worker.busy -= 1
        if worker.accepting:
            self._refill(worker)
            self.guard.settled(worker)
        elif not worker.busy:
            self.emptied(worker)

    def _refill(self, worker: Worker) -> None:
        """Let a worker with a free slot take what waits, or poll for it."""
        if not worker.paused:
            for lane in self._lanes:
                if lane.waiting:
                    self._receive(worker, lane, lane.waiting.popleft(), self._random() * self._polling_s)
                    break
            else:
                self._polls.freed(worker)

    def _lapse(self, holding: Holding) -> None:
        if holding.alive and not holding.message.done:
            holding.lapsed = True
            self._return(holding, 0.0)

    def _drop(self, holding: Holding) -> None:
        holding.alive = False
        del holding.worker.held[holding]

    def _return(self, holding: Holding, away_s: float) -> None:
        if away_s:
            self._engine.after(away_s, self._back, holding)
        else:
            self._back(holding)

    def _back(self, holding: Holding) -> None:
        lane, message = holding.lane, holding.message
        lane.in_flight -= 1
        if message.done:
            return
        self.redelivered += 1
        if message.receives >= lane.max_receives:
            lane.dead_letters += 1
            message.done = True
            self._failed(message)
        else:
            self.send(lane, message)
