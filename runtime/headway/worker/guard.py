"""The barrier between receive and start: a bootstep that carries out what the protection policy decides.

The hub's thread admits requests and never waits: one that arrives unprotected is set aside, polling pauses, and a
thread asks the agent. Its answer wakes the hub, which starts what was set aside or hands it back.
"""

import logging
import math
import threading
from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit
from celery import bootsteps
from celery.worker import state
from celery.worker.consumer.tasks import Tasks

from headway.emf import metric_line, write_line
from headway.scaling.metrics import dimensions
from headway.scaling.turns import hush_left_s
from headway.worker.agent import AgentAnswer, set_protection
from headway.worker.protection import Action, Admission, Protection, away_s

logger = logging.getLogger(__name__)

#: What is logged of the agent's answers; a verification of a deployment looks for both.
GRANTED = "protection granted"
RELEASED = "protection released"

#: How often the policy is asked, stage seconds; a request that waits asks at once.
_TICK_S = 5.0
_MIN_TICK_S = 0.1

_Start = Callable[[Any], None]


class ProtectionGuard(bootsteps.StartStopStep):
    """Protects the task while any message is held, and lets work start only under protection."""

    requires = (Tasks,)

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._env, self._clock = consumer.app.headway.env, consumer.app.headway.clock
        env = self._env
        self._agent_uri, self._minutes = env.agent_uri, env.protection_min
        self.enabled = env.protection and bool(env.agent_uri)
        if env.protection and not env.agent_uri:
            logger.warning("no ECS_AGENT_URI: not an ECS service's task, working without scale-in protection")
        self._lock = threading.Lock()
        self._protection = Protection(life_s=env.protection_min * 60.0)
        self._waiting: list[tuple[Any, _Start]] = []
        self._wake = threading.Event()
        self._over = False
        self._thread: threading.Thread | None = None
        if self.enabled:
            consumer.guard = self

    def start(self, consumer: Any) -> None:
        """Hook into the new connection's polls, and start the thread, once."""
        self._consumer = consumer
        if not self.enabled:
            return
        consumer.connection.transport.paused = self.paused
        consumer.connection.transport.hush_s = lambda: self._clock.wall(self._hush_left_s())
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="protection", daemon=True)
            self._thread.start()

    def stop(self, consumer: Any) -> None:
        """Hand back what was never started; what runs goes on."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for request, _ in waiting:
            _hand_back(request, 0)

    def shutdown(self, consumer: Any) -> None:
        """Release the protection; the pool has ended before."""
        if self._thread is None:
            return
        self._over = True
        self._wake.set()
        self._thread.join()
        with self._lock:
            owed = self._protection.release_at is not None
        if owed:
            self.release()

    def release(self) -> None:
        """Give the protection back, whatever is still held."""
        self._ask(enabled=False)

    def paused(self) -> bool:
        """Return whether polls should wait: a message would meet an unanswered question, or a refusal."""
        with self._lock:
            return bool(self._waiting) or not self._protection.may_receive(self._clock.monotonic())

    def admit(self, request: Any, start: _Start) -> None:
        """Start the request, set it aside until the agent has answered, or hand it back."""
        with self._lock:
            admission = self._protection.admission(self._clock.monotonic())
            if admission is Admission.WAIT:
                self._waiting.append((request, start))
        if admission is Admission.START:
            start(request)
        elif admission is Admission.HAND_BACK:
            _hand_back(request, math.ceil(self._clock.wall(away_s(request.message.receives))))
        else:
            self._wake.set()

    def _run(self) -> None:
        while not self._over:
            with self._lock:
                now, busy = self._clock.monotonic(), self._busy()
                self._protection = self._protection.seen(now, busy=busy)
                action = self._protection.action(now)
                tick_s = _TICK_S
                if action is Action.ACQUIRE and not busy and (hush_s := self._hush_left_s()):
                    action, tick_s = Action.WAIT, hush_s
                if action is Action.RELEASE:
                    self._protection = self._protection.releasing(now)
            if action is not Action.WAIT:
                self._carry_out(action)
            self._wake.wait(self._clock.wall(tick_s, at_least=_MIN_TICK_S))
            self._wake.clear()

    def _carry_out(self, action: Action) -> None:
        done = self._ask(enabled=action is not Action.RELEASE)
        with self._lock:
            now = self._clock.monotonic()
            if action is Action.RELEASE:
                self._protection = self._protection.released() if done else self._protection
            else:
                self._protection = self._protection.granted(now) if done else self._protection.refused(now)
        self._consumer.hub.call_soon(self._settle_waiting)

    def _settle_waiting(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for request, start in waiting:
            self.admit(request, start)

    def _ask(self, *, enabled: bool) -> bool:
        try:
            answer = set_protection(self._agent_uri, enabled=enabled, minutes=self._minutes)
        except Exception as error:  # requests wait for this thread: whatever the agent does, they must get an answer
            answer = AgentAnswer(done=False, reason=repr(error))
        if not answer.done:
            logger.warning("protection %s: %s", "refused" if enabled else "not released", answer.reason)
        else:
            logger.info(GRANTED if enabled else RELEASED)
        if enabled and not answer.done:
            whose = dimensions(stage=self._env.stage, lane=self._env.lane)
            refused = {"ProtectionRefused": (MetricUnit.Count, 1.0)}
            write_line(metric_line(self._env.metric_namespace, whose, refused, {"reason": answer.reason}))
        return answer.done

    def _hush_left_s(self) -> float:
        """Return for how many stage seconds a task that holds nothing must not begin to: the fleet is being counted."""
        return hush_left_s(self._clock.epoch(), self._env.publish_every_s)

    def _busy(self) -> int:
        connection = self._consumer.connection
        return len(connection.transport.held) if connection is not None else 0


def _hand_back(request: Any, delay_s: int) -> None:
    state.task_ready(request)
    request.message.hand_back(delay_s)
