"""Carries faults out, and undoes those that last."""

import contextlib
import random
import time
from collections.abc import Callable

import sqlalchemy as sa

from headway_ops.local.postgres import Server as Database
from tests.faults.fleet import Fleet
from tests.faults.jobs import Jobs
from tests.faults.model import Model
from tests.faults.schedule import Fault, Kind
from tests.runtime.support.agent import AgentServer
from tests.runtime.support.proxy import EVERY, FaultProxy

#: Ways to lose a request.
_LOSSES = ("reset", "503", "closed", "ThrottlingException")
_WITHOUT_END = 1_000_000


class Breaker:
    """Breaks the parts of one stage. ``lease_s``: a claim that could not be renewed is lost so much later."""

    def __init__(
        self, *, proxy: FaultProxy, agent: AgentServer, database: Database, model: Model, seed: int, lease_s: float
    ) -> None:
        self._proxy, self._agent, self._database, self._model = proxy, agent, database, model
        self._draw, self._lease_s = random.Random(seed), lease_s
        #: What is to be undone, and when (monotonic).
        self._undo: list[tuple[float, Callable[[], None]]] = []
        #: When the job store was away, wall time, until claims that were not renewed meanwhile are lost.
        self.outages: list[tuple[float, float]] = []
        self.done: dict[Kind, int] = dict.fromkeys(Kind, 0)

    def carry_out(self, fault: Fault, fleet: Fleet, jobs: Jobs) -> None:
        """Do what the schedule says."""
        self.done[fault.kind] += 1
        undo: Callable[[], None] | None = None
        match fault.kind:
            case Kind.KILL_WORKER:
                fleet.kill(self._draw)
            case Kind.KILL_CHILD:
                fleet.kill_child(self._draw)
            case Kind.DEPLOYMENT:
                fleet.deploy(self._draw)
            case Kind.DUPLICATES:
                with contextlib.suppress(sa.exc.OperationalError):
                    jobs.send_again(self._draw)
            case Kind.LOST_ACKS:
                self._proxy.break_next(self._draw.randint(2, 12), self._draw.choice(_LOSSES), "DeleteMessage")
            case Kind.ENDPOINT_DOWN:
                self._proxy.break_next(_WITHOUT_END, self._draw.choice(_LOSSES), EVERY)
                undo = self._mend_endpoint
            case Kind.ENDPOINT_HANGS:
                self._proxy.break_next(2, "hang", self._draw.choice(("ReceiveMessage", "DeleteMessage")))
            case Kind.DATABASE_RESTART if all(undo != self._start_database for _, undo in self._undo):
                self.outages.append((time.time(), float("inf")))
                self._database.stop()
                undo = self._start_database
            case Kind.RATE_LIMITS:
                self._model.storm(fault.lasts_s)
            case Kind.REFUSALS:
                self._agent.refusing = True
                undo = self._grant_again
        if undo is not None:
            self._undo.append((time.monotonic() + fault.lasts_s, undo))

    def mend(self, *, everything: bool = False) -> None:
        """Undo what has lasted long enough."""
        due = [(at, undo) for at, undo in self._undo if everything or time.monotonic() >= at]
        self._undo = [entry for entry in self._undo if entry not in due]
        for _, undo in due:
            undo()

    def _mend_endpoint(self) -> None:
        self._proxy.left = 0

    def _grant_again(self) -> None:
        self._agent.refusing = False

    def _start_database(self) -> None:
        self._database.start()
        began, _ = self.outages[-1]
        self.outages[-1] = (began, time.time() + self._lease_s)
