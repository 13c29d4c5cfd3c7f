"""The alarms' rules: what is refused, and the one line it says."""

from typing import Any

import pytest

from stacks.loading import load_stage
from stacks.rules import problems
from tests.synth import stage, synthesize, varied

REFUSED: list[tuple[dict[str, Any], str, str, str]] = [
    (
        {"lanes__heavy__oldest_alarm_s": 3_960},
        "lanes.heavy.oldest_alarm_s",
        "must exceed time_limit_s = 3960: a message ages while its work lives",
        "set 7920",
    ),
    (
        {"lanes__fast__oldest_alarm_s": 150},
        "lanes.fast.oldest_alarm_s",
        "must exceed time_limit_s = 150: a message ages while its work lives",
        "set 300",
    ),
    (
        {"alarms__rate_limited_per_call": 0.0},
        "alarms.rate_limited_per_call",
        "must be above 0, or it goes off with every call",
        "set 0.5",
    ),
    (
        {"alarms__topic_arn": "oncall"},
        "alarms.topic_arn",
        "must be the ARN of a standard SNS topic",
        "copy it from the topic's page, or leave it empty",
    ),
]


@pytest.mark.parametrize(("changes", "field", "bound", "fix"), REFUSED)
def test_refused(changes: dict[str, Any], field: str, bound: str, fix: str) -> None:
    """Each is refused with its field, its bound and its mending."""
    problem = next(problems(varied(load_stage("dev"), **changes)))
    assert (problem.field, problem.bound, problem.fix) == (field, bound, fix)


def test_a_topic_of_ones_own_takes_the_place_of_the_stages() -> None:
    """alarms.topic_arn: every alarm of both stacks tells it, and no topic is created."""
    arn = "arn:aws:sns:eu-west-1:111122223333:oncall"
    built = synthesize(varied(load_stage("dev"), alarms__topic_arn=arn))
    assert not built.of("consumer", "AWS::SNS::Topic")
    (unhealthy,) = built.of("producer", "AWS::CloudWatch::Alarm").values()
    assert unhealthy["AlarmActions"] == [arn]


def test_a_lane_of_more_tasks_has_more_slots_that_must_not_be_deaf() -> None:
    """Prod's fast lane: 2 tasks of 32 slots hold 64 messages before receiving nothing is no fault."""
    alarms = stage("prod").of("consumer", "AWS::CloudWatch::Alarm").values()
    expressions = [each["Expression"] for a in alarms for each in a.get("Metrics", ()) if "Expression" in each]
    assert "IF(waiting > 0 AND received == 0 AND held < 64, 1, 0)" in expressions
