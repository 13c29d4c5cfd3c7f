"""A workload as a value."""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A stretch of time and its jobs, in one of three ways.

    ``jobs_per_min``: jobs come at random at this mean rate; with ``peak_jobs_per_min`` the rate follows one period of
    a sinusoid, which starts at its mean. ``jobs``: exactly so many, each at a random time of the phase.
    """

    minutes: float
    jobs_per_min: float = 0.0
    peak_jobs_per_min: float = 0.0
    jobs: int = 0


@dataclass(frozen=True, kw_only=True)
class JobShape:
    """What a job is made of: one interactive step, then blocks at once, each of some model calls.

    ``fast_s``, ``call_s``: ranges that a duration is drawn from, evenly; ``blocks``: a range of counts.
    ``calls``: the chance of each number of calls of a block. ``recorded_call_s``: calls take these durations instead.
    """

    fast_s: tuple[float, float] = (4.0, 6.0)
    blocks: tuple[int, int] = (2, 6)
    calls: tuple[tuple[int, float], ...] = ((1, 0.7), (2, 0.2), (3, 0.1))
    call_s: tuple[float, float] = (600.0, 1500.0)
    recorded_call_s: tuple[float, ...] = ()

    @property
    def calls_per_job(self) -> float:
        """The mean number of model calls a job makes."""
        return (self.blocks[0] + self.blocks[1]) / 2 * sum(count * chance for count, chance in self.calls)


@dataclass(frozen=True, kw_only=True)
class Deploy:
    """A new task definition of the heavy service, rolled out at ``at_min`` minutes."""

    at_min: float


@dataclass(frozen=True, kw_only=True)
class Workload:
    """Jobs over time. ``drain_h``: how long after the last arrival a run may go on before it counts as saturated.

    ``arrivals_s``: jobs at exactly these seconds, instead of ``phases``.
    """

    name: str
    phases: tuple[Phase, ...] = ()
    repeat: int = 1
    arrivals_s: tuple[float, ...] = ()
    job: JobShape = field(default_factory=JobShape)
    deploys: tuple[Deploy, ...] = ()
    drain_h: float = 24.0

    @property
    def duration_s(self) -> float:
        """How long jobs arrive."""
        if self.arrivals_s:
            return self.arrivals_s[-1]
        return 60.0 * self.repeat * sum(phase.minutes for phase in self.phases)
