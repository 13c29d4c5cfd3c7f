"""One metric line for each model call."""

from dataclasses import dataclass

from aws_lambda_powertools.metrics import MetricUnit

from headway.emf import metric_line
from headway.scaling.metrics import dimensions
from headway.vision.calls import Call, Origin


@dataclass(frozen=True, kw_only=True)
class CallLog:
    """Knows whose calls they are."""

    namespace: str
    stage: str
    lane: str
    model: str

    def line(self, call: Call, origin: Origin) -> str:
        """Return the line, without its newline."""
        return metric_line(
            self.namespace,
            dimensions(stage=self.stage, lane=self.lane),
            {
                "CallLatency": (MetricUnit.Seconds, call.latency_s),
                "CallInputTokens": (MetricUnit.Count, call.input_tokens),
                "CallOutputTokens": (MetricUnit.Count, call.output_tokens),
                "CallCostUsd": (MetricUnit.NoUnit, call.cost_usd),
                "CallsRateLimited": (MetricUnit.Count, call.rate_limited),
                "CallsInFlightAtStart": (MetricUnit.Count, call.in_flight_at_start),
            },
            {
                "model": self.model,
                "outcome": call.outcome,
                "job": str(origin.job_id),
                "step": str(origin.step_id),
                "attempt": origin.attempt,
            },
        )
