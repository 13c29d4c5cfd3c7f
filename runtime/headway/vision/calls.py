"""What is known about one model call once it is over, for the job store and for the log."""

import json
from dataclasses import dataclass
from uuid import UUID

from headway.scaling.metrics import dimensions


@dataclass(frozen=True, kw_only=True)
class Call:
    """One model call, whatever became of it.

    ``outcome``: ok, unreadable, rate_limited (none was served), unavailable, timed_out, refused or abandoned.
    ``latency_s``: stage seconds from its last request to its answer. ``rate_limited``: 429s before that request.
    """

    outcome: str
    latency_s: float
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    rate_limited: int = 0


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


@dataclass(frozen=True, kw_only=True)
class CallLog:
    """Writes one line of CloudWatch embedded metric format for each call; CloudWatch Logs makes metrics of it."""

    namespace: str
    stage: str
    lane: str
    model: str

    def line(self, call: Call, origin: Origin) -> str:
        """Return the line, without its newline."""
        # Imported here: senders and readers of the job store know calls too, and log none.
        from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

        metrics = EphemeralMetrics(namespace=self.namespace)
        for name, value in dimensions(stage=self.stage, lane=self.lane).items():
            metrics.add_dimension(name, value)
        metrics.add_metric("CallLatency", MetricUnit.Seconds, call.latency_s)
        metrics.add_metric("CallInputTokens", MetricUnit.Count, call.input_tokens)
        metrics.add_metric("CallOutputTokens", MetricUnit.Count, call.output_tokens)
        metrics.add_metric("CallCostUsd", MetricUnit.NoUnit, call.cost_usd)
        metrics.add_metric("CallsRateLimited", MetricUnit.Count, call.rate_limited)
        for name, text in {
            "model": self.model,
            "outcome": call.outcome,
            "job": str(origin.job_id),
            "step": str(origin.step_id),
            "attempt": origin.attempt,
        }.items():
            metrics.add_metadata(name, text)
        return json.dumps(metrics.serialize_metric_set(), separators=(",", ":"))
