"""What a run leaves behind for charts: changes of the desired count, and samples at even distances."""

from typing import NamedTuple

from headway_ops.simulate.calls import Calls
from headway_ops.simulate.engine import Engine
from headway_ops.simulate.lane import Lane
from headway_ops.simulate.service import EcsService
from headway_ops.simulate.waits import Waits

#: A chart has no more points than this, however long the run.
_POINTS = 500
_FINEST_S = 10.0


class Sample(NamedTuple):
    """The stage at one moment. ``waited_s``: the longest wait of what started since the sample before, by lane."""

    at_s: float
    waiting: int
    interactive: int
    desired: int
    running: int
    protected: int
    calls: int
    waited_s: float
    interactive_waited_s: float
    task_h: float


class Recorder:
    """Samples a stage; long runs are sampled more rarely, so that every run needs the same room."""

    def __init__(self, engine: Engine, duration_s: float) -> None:
        self._engine = engine
        self._every_s = max(_FINEST_S, duration_s / _POINTS)
        self.changes: list[tuple[float, str, str]] = []
        self.samples: list[Sample] = []

    def note(self, kind: str, value: str) -> None:
        """Note a change that was decided."""
        self.changes.append((self._engine.now, kind, value))

    def watch(self, lanes: tuple[Lane, Lane], service: EcsService, calls: Calls, waits: tuple[Waits, Waits]) -> None:
        """Begin to sample."""
        self._lanes, self._service, self._calls, self._waits = lanes, service, calls, waits
        self._sample(None)

    def _sample(self, _: object) -> None:
        engine, service, (heavy, fast) = self._engine, self._service, self._lanes
        fast_waits, heavy_waits = self._waits
        self.samples.append(
            Sample(
                at_s=engine.now,
                waiting=len(heavy.waiting),
                interactive=len(fast.waiting),
                desired=service.desired,
                running=service.running,
                protected=service.protected(),
                calls=self._calls.in_flight,
                waited_s=heavy_waits.longest_lately_s,
                interactive_waited_s=fast_waits.longest_lately_s,
                task_h=service.billed_s() / 3_600,
            )
        )
        fast_waits.longest_lately_s = heavy_waits.longest_lately_s = 0.0
        if len(self.samples) >= 2 * _POINTS:
            # A run that drains long: every other point goes, and the rest come half as often.
            del self.samples[1::2]
            self._every_s *= 2
        engine.after(self._every_s, self._sample)
