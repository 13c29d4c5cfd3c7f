"""The whole beat, from counts to metrics; and what it does when AWS does not answer."""

import logging
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from headway.publisher import handler
from headway.publisher.publish import metric_data
from headway.scaling import Decision, LaneCounts, Reading
from tests.runtime.publisher.fakes import PLAN, Aws, Clock


def arrange(aws: Aws, *, visible: int, in_flight: int, desired: int) -> None:
    """Arrange one complete reading of the heavy lane, with an idle fast lane and no protected task."""
    aws.lane("heavy", visible, in_flight)
    aws.lane("fast", 0, 0)
    aws.service(running=desired, desired=desired)
    aws.tasks(desired)
    aws.protection(page=0, size=desired, protected=0)


def expect(aws: Aws, decision: Decision, *, visible: int, in_flight: int, desired: int) -> None:
    """Expect exactly the metrics of that reading and ``decision``."""
    reading = Reading(
        heavy=LaneCounts(visible=visible, in_flight=in_flight),
        fast=LaneCounts(visible=0, in_flight=0),
        running=desired,
        desired=desired,
        protected=0,
    )
    data = metric_data(aws.env, reading, decision)
    aws.on_cloudwatch.add_response("put_metric_data", {}, {"Namespace": "Headway", "MetricData": data})


def test_beat_publishes_what_the_plan_decides() -> None:
    """64 waiting: (64 + 4 spare + 2 x 8) / 8 slots = 10.5, so 11 of the 15 tasks that 120 calls allow."""
    aws = Aws()
    arrange(aws, visible=64, in_flight=0, desired=1)
    expect(
        aws,
        Decision(need=11, scale_out_to=11, scale_in_to=0, backlog_per_task=64.0),
        visible=64,
        in_flight=0,
        desired=1,
    )
    with aws.answering():
        aws.publisher.beat()


@pytest.mark.parametrize("cause", ["AccessDenied", "ThrottlingException"])
def test_refused_read_publishes_nothing(cause: str, caplog: pytest.LogCaptureFixture) -> None:
    """A refused call publishes nothing at all, never 0, and leaves one line with its cause."""
    aws = Aws()
    aws.lane("heavy", 64, 0)
    aws.on_sqs.add_client_error("get_queue_attributes", service_error_code=cause)
    with caplog.at_level(logging.ERROR), aws.answering():
        aws.publisher.beat()
    (line,) = caplog.messages
    assert line.startswith("nothing published: ")
    assert cause in line
    assert "\n" not in line


def test_unreachable_service_publishes_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A timeout is treated as a refusal: the beat ends, the process lives."""
    aws = Aws()

    def hang(**_: Any) -> None:
        raise ReadTimeoutError(endpoint_url="https://sqs.eu-west-1.amazonaws.com")

    monkeypatch.setattr(aws.sqs, "get_queue_attributes", hang)
    with caplog.at_level(logging.ERROR), aws.answering():
        aws.publisher.beat()
    assert len(caplog.messages) == 1


def test_refused_put_is_logged_and_survived(caplog: pytest.LogCaptureFixture) -> None:
    """A reading that CloudWatch does not take is lost; the next beat has a newer one."""
    aws = Aws()
    arrange(aws, visible=0, in_flight=0, desired=1)
    aws.on_cloudwatch.add_client_error("put_metric_data", service_error_code="InternalFailure")
    with caplog.at_level(logging.ERROR), aws.answering():
        aws.publisher.beat()
    assert len(caplog.messages) == 1


def test_minute_goes_on_after_a_failed_beat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of six beats the first is refused, and the other five publish."""
    aws, clock = Aws(), Clock()
    aws.on_sqs.add_client_error("get_queue_attributes", service_error_code="ServiceUnavailable")
    steady = Decision(need=1, scale_out_to=0, scale_in_to=0, backlog_per_task=0.0)
    for _ in range(5):
        arrange(aws, visible=0, in_flight=0, desired=1)
        expect(aws, steady, visible=0, in_flight=0, desired=1)
    monkeypatch.setattr(handler, "_publisher", lambda: aws.publisher)
    monkeypatch.setattr(handler, "time", FakeTime(clock))
    with aws.answering():
        assert handler.handle({}, None) == {"beats": 6}
    assert PLAN.min_tasks == steady.need


class FakeTime:
    """The two parts of the time module that the function uses, on a fake clock."""

    def __init__(self, clock: Clock) -> None:
        self.time, self.sleep = clock, clock.sleep
