"""What is known about one model call once it is over, for the job store and for the log."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, kw_only=True)
class Call:
    """One model call, whatever became of it.

    ``outcome``: ok, unreadable, rate_limited (none was served), unavailable, timed_out, refused or abandoned.
    ``latency_s``: stage seconds from its last request to its answer. ``rate_limited``: 429s before that request.
    ``in_flight_at_start``: the fleet's calls in flight as that request was sent, itself included.
    """

    outcome: str
    latency_s: float
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    rate_limited: int = 0
    in_flight_at_start: int = 0


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Which attempt at which step makes a call."""

    job_id: UUID
    step_id: UUID
    attempt: int


@dataclass(frozen=True, kw_only=True)
class Price:
    """What a million tokens cost, US dollars."""

    input_usd_per_mtok: float
    output_usd_per_mtok: float

    def of(self, *, input_tokens: int, output_tokens: int) -> float:
        """Return what so many tokens cost, US dollars.

        >>> Price(input_usd_per_mtok=0.25, output_usd_per_mtok=2.0).of(input_tokens=1_000_000, output_tokens=500_000)
        1.25
        """
        return (input_tokens * self.input_usd_per_mtok + output_tokens * self.output_usd_per_mtok) / 1_000_000
