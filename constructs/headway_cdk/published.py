"""What the stage itself publishes about a lane, as alarms and the dashboard ask for it."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from headway.scaling import metrics


def lane_metric(
    name: str, *, namespace: str, stage: str, lane: str, statistic: str, minutes: int, label: str | None = None
) -> cloudwatch.Metric:
    """Return a metric of the publisher's or of the per-call log's, over so many minutes."""
    return cloudwatch.Metric(
        namespace=namespace,
        metric_name=name,
        dimensions_map=metrics.dimensions(stage=stage, lane=lane),
        statistic=statistic,
        period=cdk.Duration.minutes(minutes),
        label=label,
    )
