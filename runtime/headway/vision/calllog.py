"""One metric line for each model call, in CloudWatch's embedded metric format: CloudWatch Logs makes metrics of it."""

import json
from dataclasses import dataclass

from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

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
        metrics = EphemeralMetrics(namespace=self.namespace)
        for name, value in dimensions(stage=self.stage, lane=self.lane).items():
            metrics.add_dimension(name, value)
        metrics.add_metric("CallLatency", MetricUnit.Seconds, call.latency_s)
        metrics.add_metric("CallInputTokens", MetricUnit.Count, call.input_tokens)
        metrics.add_metric("CallOutputTokens", MetricUnit.Count, call.output_tokens)
        metrics.add_metric("CallCostUsd", MetricUnit.NoUnit, call.cost_usd)
        metrics.add_metric("CallsRateLimited", MetricUnit.Count, call.rate_limited)
        metrics.add_metric("CallsInFlightAtStart", MetricUnit.Count, call.in_flight_at_start)
        for name, text in {
            "model": self.model,
            "outcome": call.outcome,
            "job": str(origin.job_id),
            "step": str(origin.step_id),
            "attempt": origin.attempt,
        }.items():
            metrics.add_metadata(name, text)
        return json.dumps(metrics.serialize_metric_set(), separators=(",", ":"))
