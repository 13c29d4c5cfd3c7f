"""What is published for a reading? The metrics of each lane, and for the scaled one what was decided."""

from typing import TYPE_CHECKING

from headway.contract import PublisherEnv
from headway.scaling import Decision, LaneCounts, Reading, metrics

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import MetricDatumTypeDef


def metric_data(env: PublisherEnv, reading: Reading, decision: Decision) -> list["MetricDatumTypeDef"]:
    """Return PutMetricData's entries, finer than a minute (StorageResolution 1) where the beat is."""
    resolution = 1 if env.publish_every_s < 60 else 60
    lanes = {
        env.main_lane: _counts(reading.heavy)
        | {
            metrics.SCALE_OUT_TO: decision.scale_out_to,
            metrics.SCALE_IN_TO: decision.scale_in_to,
            metrics.BACKLOG_PER_TASK: decision.backlog_per_task,
            metrics.NEED: decision.need,
        }
    }
    if reading.fast:
        lanes["fast"] = _counts(reading.fast)
    return [
        {
            "MetricName": metric.name,
            "Dimensions": [
                {"Name": name, "Value": value} for name, value in metrics.dimensions(stage=env.stage, lane=lane).items()
            ],
            "Value": value,
            "Unit": metric.unit,
            "StorageResolution": resolution,
        }
        for lane, values in lanes.items()
        for metric, value in values.items()
    ]


def publish(env: PublisherEnv, cloudwatch: "CloudWatchClient", reading: Reading, decision: Decision) -> None:
    """Put every metric of one reading in one call, so that they are there together or not at all.

    Raises:
        botocore.exceptions.ClientError: CloudWatch refused.
        botocore.exceptions.BotoCoreError: CloudWatch could not be reached in time.
    """
    cloudwatch.put_metric_data(Namespace=env.metric_namespace, MetricData=metric_data(env, reading, decision))


def _counts(lane: LaneCounts) -> dict[metrics.Metric, float]:
    return {metrics.WAITING: lane.visible, metrics.IN_FLIGHT: lane.in_flight}
