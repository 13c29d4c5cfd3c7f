"""What is put: every metric of both lanes in one call, with the identity that the alarms use."""

import pytest

from headway.publisher.publish import metric_data, publish
from headway.scaling import Decision, LaneCounts, Reading
from tests.runtime.publisher.fakes import Aws, env

READING = Reading(
    heavy=LaneCounts(visible=12, in_flight=8),
    fast=LaneCounts(visible=3, in_flight=1),
    running=2,
    desired=3,
    protected=1,
)
DECISION = Decision(need=7, scale_out_to=7, scale_in_to=0, backlog_per_task=6.0)


def test_both_lanes_are_published() -> None:
    """The heavy lane has counts and decision, the fast lane its counts."""
    values = {
        ({d["Name"]: d["Value"] for d in entry["Dimensions"]}["Lane"], entry["MetricName"]): entry["Value"]
        for entry in metric_data(env(), READING, DECISION)
    }
    assert values == {
        ("heavy", "MessagesWaiting"): 12,
        ("heavy", "MessagesInFlight"): 8,
        ("heavy", "ScaleOutTo"): 7,
        ("heavy", "ScaleInTo"): 0,
        ("heavy", "BacklogPerTask"): 6.0,
        ("heavy", "TasksNeeded"): 7,
        ("fast", "MessagesWaiting"): 3,
        ("fast", "MessagesInFlight"): 1,
    }


@pytest.mark.parametrize(("every", "resolution"), [(10, 1), (60, 60)])
def test_resolution_is_as_fine_as_the_beat(every: int, resolution: int) -> None:
    """Alarms on periods under a minute need StorageResolution 1 (CloudWatch, high-resolution metrics)."""
    data = metric_data(env(publish_every_s=every), READING, DECISION)
    assert {entry["StorageResolution"] for entry in data} == {resolution}


def test_one_call_puts_everything() -> None:
    """One PutMetricData in the contract's namespace, in a shape that AWS's own model accepts."""
    aws = Aws()
    data = metric_data(aws.env, READING, DECISION)
    aws.on_cloudwatch.add_response("put_metric_data", {}, {"Namespace": "Headway", "MetricData": data})
    with aws.answering():
        publish(aws.env, aws.cloudwatch, READING, DECISION)
