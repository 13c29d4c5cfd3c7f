"""The lease keeper's rules: whole extensions, SQS's cap, spread beats; and all of a worker's promises together.

The state machine runs the worker's own pure parts, its leases and its protection, against a queue, an agent and a
service scheduler on a fake clock. ``HYPOTHESIS_PROFILE=nightly`` runs it 2,000 times 50 steps.
"""

import doctest
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from headway.worker import leases
from headway.worker.leases import CAP_S, Leases, next_beat_s
from headway.worker.protection import LINGER_S, Action, Admission, Protection

VISIBILITY_S, BEAT_S, LIFE_S, TICK_S = 120, 40, 1_800.0, 5


def test_every_held_message_is_extended_whole() -> None:
    """From its first beat to long before the cap."""
    keeper = Leases(visibility_s=120)
    assert keeper.due(["a"], 0).extend == {"a": 120}
    assert keeper.due(["a", "b"], 20_000).extend == {"a": 120, "b": 120}


def test_no_extension_reaches_beyond_twelve_hours_and_the_end_is_told_once() -> None:
    """SQS refuses an extension beyond 12 h from the receive: the last ones are shorter, then there are none."""
    keeper = Leases(visibility_s=120)
    keeper.due(["a"], 0)
    assert keeper.due(["a"], CAP_S - 100).extend == {"a": 40}
    ended = keeper.due(["a"], CAP_S - 60)
    assert (ended.extend, list(ended.lapsed)) == ({}, ["a"])
    assert not keeper.due(["a"], CAP_S).lapsed


def test_a_message_that_comes_back_starts_anew() -> None:
    """A new receive has a new handle, and a handle that was let go has no past."""
    keeper = Leases(visibility_s=120)
    keeper.due(["a"], 0)
    keeper.due([], 50)
    assert keeper.due(["a"], CAP_S).extend == {"a": 120}


@given(st.floats(0.1, 100), st.floats(0, 1))
def test_beats_are_spread_and_never_late(beat_s: float, draw: float) -> None:
    """Up to a tenth early: a late beat could lose a lease, an early one costs a request."""
    assert beat_s * 0.9 - 1e-9 <= next_beat_s(beat_s, draw) <= beat_s


def test_the_examples_in_the_module_hold() -> None:
    """Its docstrings show real values."""
    assert doctest.testmod(leases).failed == 0


@dataclass
class Message:
    """One message of the fake queue."""

    visible_at: float = 0.0
    done: bool = False
    runs: int = 0


@dataclass
class Worker:
    """One worker: what it holds, what runs and what waits, with the product's own rules."""

    number: int
    leases: Leases = field(default_factory=lambda: Leases(visibility_s=VISIBILITY_S))
    protection: Protection = field(default_factory=lambda: Protection(life_s=LIFE_S))
    held: list[int] = field(default_factory=list)
    running: list[int] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    next_beat: float = 0.0
    alive: bool = True


class Worlds(RuleBasedStateMachine):
    """A queue, three workers, an agent that grants or refuses, and a scheduler that stops what is not protected."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.messages: list[Message] = []
        self.workers = [Worker(number=n) for n in range(3)]
        self.granting = True
        #: The agent's own record: until when each worker is protected.
        self.agent: dict[int, float] = {}
        self.ever_refused = False
        self.stopped_while_running = 0
        self.started_unprotected = 0

    # What the product does, step by step.

    def _beat(self, worker: Worker) -> None:
        for handle, seconds in worker.leases.due([str(n) for n in worker.held], self.now).extend.items():
            self.messages[int(handle)].visible_at = self.now + seconds
        worker.next_beat = self.now + BEAT_S

    def _tick(self, worker: Worker) -> None:
        worker.protection = worker.protection.seen(self.now, busy=len(worker.held))
        match worker.protection.action(self.now):
            case Action.RELEASE:
                worker.protection = worker.protection.releasing(self.now)
                self.agent.pop(worker.number, None)
                worker.protection = worker.protection.released()
            case Action.ACQUIRE | Action.RENEW:
                if self.granting:
                    self.agent[worker.number] = self.now + LIFE_S
                    worker.protection = worker.protection.granted(self.now)
                else:
                    worker.protection = worker.protection.refused(self.now)
        waiting, worker.waiting = worker.waiting, []
        for number in waiting:
            self._admit(worker, number)

    def _admit(self, worker: Worker, number: int) -> None:
        match worker.protection.admission(self.now):
            case Admission.START:
                self.started_unprotected += self.agent.get(worker.number, 0.0) <= self.now
                self.messages[number].runs += 1
                worker.running.append(number)
            case Admission.WAIT:
                worker.waiting.append(number)
            case Admission.HAND_BACK:
                self._let_go(worker, number)

    def _let_go(self, worker: Worker, number: int) -> None:
        worker.held.remove(number)
        self.messages[number].visible_at = self.now

    def _live(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.alive]

    # What may happen, in any order.

    @rule()
    def send(self) -> None:
        """A producer sends a message."""
        self.messages.append(Message(visible_at=self.now))

    @rule(pick=st.integers(0, 2))
    def receive(self, pick: int) -> None:
        """A worker's poll returns the first visible message."""
        worker = self.workers[pick]
        free = [n for n, m in enumerate(self.messages) if not m.done and m.visible_at <= self.now]
        if worker.alive and free and worker.protection.may_receive(self.now):
            self.messages[free[0]].visible_at = self.now + VISIBILITY_S
            worker.held.append(free[0])
            self._admit(worker, free[0])

    @rule(pick=st.integers(0, 2))
    def finish(self, pick: int) -> None:
        """A call ends, and its message is acknowledged."""
        worker = self.workers[pick]
        if worker.alive and worker.running:
            number = worker.running.pop(0)
            worker.held.remove(number)
            self.messages[number].done = True

    @rule(pick=st.integers(0, 2))
    def crash(self, pick: int) -> None:
        """Kill -9: nothing is handed back, nothing is released."""
        self.workers[pick] = Worker(number=self.workers[pick].number + 3, alive=True)

    @rule(pick=st.integers(0, 2))
    def shut_down(self, pick: int) -> None:
        """SIGTERM: what has not started goes back, what runs is handed back, protection is released."""
        worker = self.workers[pick]
        for number in list(worker.held):
            self._let_go(worker, number)
        self.agent.pop(worker.number, None)
        self.workers[pick] = Worker(number=worker.number + 3)

    @rule(granting=st.booleans())
    def agent_changes_its_mind(self, granting: bool) -> None:
        """The service is scaled under its busy tasks, or no longer."""
        self.granting = granting
        self.ever_refused |= not granting

    @rule()
    def scale_in(self) -> None:
        """The scheduler stops every worker that the agent does not show as protected."""
        for index, worker in enumerate(self.workers):
            if self.agent.get(worker.number, 0.0) <= self.now:
                self.stopped_while_running += bool(worker.running)
                for number in list(worker.held):
                    self._let_go(worker, number)
                self.workers[index] = Worker(number=worker.number + 3)

    @rule(seconds=st.integers(1, 600))
    def time_passes(self, seconds: int) -> None:
        """The clock goes on; live workers look at their protection and beat when they should."""
        for _ in range(0, seconds, TICK_S):
            self.now += TICK_S
            for worker in self._live():
                protected = self.agent.get(worker.number, 0.0) > self.now
                assert protected or not worker.running or self.ever_refused, "protection lapsed under running work"
                self._tick(worker)
                assert not worker.waiting or self.ever_refused, "an agent that grants keeps nobody waiting"
                if self.now >= worker.next_beat:
                    self._beat(worker)

    # What must hold whatever happens.

    @invariant()
    def no_message_is_lost(self) -> None:
        """One that is not done is visible now, or within a visibility timeout from now."""
        assert all(m.done or m.visible_at <= self.now + VISIBILITY_S for m in self.messages)

    @invariant()
    def a_held_message_is_nobody_elses(self) -> None:
        """While its worker lives it stays hidden, and no two workers hold it."""
        held = [number for worker in self._live() for number in worker.held]
        assert len(held) == len(set(held))
        assert all(self.messages[number].visible_at > self.now for number in held)

    @invariant()
    def nothing_starts_unprotected(self) -> None:
        """The agent's own record says so at every start."""
        assert self.started_unprotected == 0

    @invariant()
    def nothing_runs_twice_at_once(self) -> None:
        """One worker at most runs a message."""
        running = [number for worker in self._live() for number in worker.running]
        assert len(running) == len(set(running))

    @invariant()
    def the_idle_are_free_to_go(self) -> None:
        """A worker without messages gives its protection back within a tick of the linger, or of an answer after it."""
        for worker in self._live():
            idle_since, until = worker.protection.idle_since, self.agent.get(worker.number, 0.0)
            if worker.held or idle_since is None or until <= self.now:
                continue
            assert self.now <= max(idle_since + LINGER_S, until - LIFE_S) + TICK_S or not self.granting

    @invariant()
    def no_busy_worker_is_stopped_where_the_agent_grants(self) -> None:
        """Only an agent that refused can leave running work unprotected."""
        assert self.ever_refused or self.stopped_while_running == 0


TestWorlds = Worlds.TestCase
