"""A service's model calls: which begin at once, which wait in the fleet's line, and which meet a 429."""

import random
from collections.abc import Callable

from headway_ops.simulate.calls import Calls
from headway_ops.simulate.engine import Engine
from headway_ops.simulate.waits import Waits
from headway_ops.simulate.worker import Holding

#: A call that meets a 429 is tried so often, with pauses of 2, 4, 8 ... seconds and up to one more at random.
_TRIES = 5


class Calling:
    """Makes the calls of messages, of each at most ``abreast`` at once.

    ``leases``: a call waits for a place in the quota; else the model refuses those beyond it. ``done`` is told of a
    message whose last call has ended, ``failed`` of one whose call was refused for good.
    """

    __slots__ = ("_abreast", "_calls", "_done", "_engine", "_failed", "_leases", "_random", "_waits")

    def __init__(
        self,
        engine: Engine,
        calls: Calls,
        waits: Waits,
        rng: random.Random,
        *,
        abreast: int,
        leases: bool,
        done: Callable[[Holding], None],
        failed: Callable[[Holding], None],
    ) -> None:
        self._engine, self._calls, self._waits, self._random = engine, calls, waits, rng.random
        self._abreast, self._leases = abreast, leases
        self._done, self._failed = done, failed

    def start(self, holding: Holding, delay: float) -> None:
        """Make a message's first calls in ``delay`` seconds."""
        for _ in holding.message.calls[: self._abreast]:
            self._call(holding, delay)

    def drop(self, holding: Holding) -> None:
        """End a dead message's calls."""
        self._calls.in_flight -= holding.running

    def let_in(self) -> None:
        """Make the calls that wait in line, as far as there are places."""
        calls = self._calls
        while calls.line and calls.in_flight < calls.quota:
            holding = calls.line.popleft()
            if holding.alive:
                self._call(holding, 0.0)

    def _call(self, holding: Holding, delay: float) -> None:
        calls, message = self._calls, holding.message
        if calls.in_flight >= calls.quota:
            self._refused(holding)
            return
        if message.wait < 0:
            message.wait = self._engine.now + delay - message.sent_at
            self._waits.add(message.wait)
        seconds = message.calls[holding.begun]
        holding.begun += 1
        holding.running += 1
        holding.tries = 0
        calls.begin(seconds)
        self._engine.after(delay + seconds, self._called, holding)

    def _called(self, holding: Holding) -> None:
        if not holding.alive:
            return
        self._calls.in_flight -= 1
        holding.running -= 1
        if self._calls.line:
            self.let_in()
        if holding.begun < len(holding.message.calls):
            self._call(holding, 0.0)
        elif not holding.running:
            self._done(holding)

    def _refused(self, holding: Holding) -> None:
        """Wait in the fleet's line, or meet the model's 429."""
        if self._leases:
            self._calls.line.append(holding)
            return
        self._calls.rate_limited += 1
        holding.tries += 1
        if holding.tries < _TRIES:
            self._engine.after(2.0**holding.tries + self._random(), self._again, holding)
        elif not holding.running:
            self._failed(holding)

    def _again(self, holding: Holding) -> None:
        if holding.alive and holding.begun < len(holding.message.calls):
            self._call(holding, 0.0)
