"""The alarms: what each watches, and whom it tells."""

from typing import Any

import pytest
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from headway_cdk import Alarms, WatchedLane
from tests.constructs.parts import Parts
from tests.synth import stack


def built(*, topic_arn: str = "") -> Template:
    """Return a stack with the alarms of one lane whose fewest workers have 8 slots."""
    parts = Parts.within(stack())
    Alarms(
        parts.stack,
        "Alarms",
        stage="test",
        lanes={"heavy": WatchedLane(lane=parts.lane, oldest_s=7_200, slots=8)},
        main_lane="heavy",
        services=[parts.worker().service],
        rate_limited_per_call=0.5,
        topic=sns.Topic.from_topic_arn(parts.stack, "Topic", topic_arn) if topic_arn else None,
    )
    return Template.from_stack(parts.stack)


@pytest.fixture(scope="module")
def template() -> Template:
    """The alarms with a topic of their own."""
    return built()


def alarm(template: Template, anchor: str) -> dict[str, Any]:
    """Return the only alarm that sends its reader to ``anchor``."""
    (found,) = (
        properties
        for each in template.find_resources("AWS::CloudWatch::Alarm").values()
        if (properties := each["Properties"])["AlarmDescription"].endswith(f"docs/runbook.md#{anchor}")
    )
    return dict(found)


def math(alarm: dict[str, Any]) -> tuple[str, dict[str, tuple[str, str]]]:
    """Return an alarm's expression, and each metric's name and statistic by its id in it."""
    (expression,) = (each["Expression"] for each in alarm["Metrics"] if "Expression" in each)
    used = {
        each["Id"]: (each["MetricStat"]["Metric"]["MetricName"], each["MetricStat"]["Stat"])
        for each in alarm["Metrics"]
        if "MetricStat" in each
    }
    return expression, used


def test_an_old_message_is_told(template: Template) -> None:
    """Five minutes at the lane's age or beyond: the age counts messages that a worker holds as well."""
    found = alarm(template, "oldest-message")
    assert found["MetricName"] == "ApproximateAgeOfOldestMessage"
    assert (found["Threshold"], found["Period"], found["EvaluationPeriods"]) == (7_200, 60, 5)


def test_one_dead_letter_is_told(template: Template) -> None:
    """The alarm is on the dead-letter queue, not on the lane, and one message is enough."""
    found = alarm(template, "dead-letters")
    assert found["MetricName"] == "ApproximateNumberOfMessagesVisible"
    (dimension,) = found["Dimensions"]
    assert "DeadLetters" in dimension["Value"]["Fn::GetAtt"][0]
    assert found["Threshold"] == 1


def test_in_flight_is_told_at_four_fifths_of_what_sqs_allows(template: Template) -> None:
    """120,000 messages in flight are a standard queue's limit ("Amazon SQS message quotas"): 0.8 of it is 96,000."""
    found = alarm(template, "in-flight-limit")
    assert (found["MetricName"], found["Threshold"]) == ("ApproximateNumberOfMessagesNotVisible", 96_000)


def test_a_lane_is_deaf_when_messages_wait_and_slots_are_free_and_none_is_received(template: Template) -> None:
    """A full fleet receives nothing either, so what is held is compared with the fewest slots there are."""
    found = alarm(template, "receiving-nothing")
    expression, used = math(found)
    assert expression == "IF(waiting > 0 AND received == 0 AND held < 8, 1, 0)"
    assert used == {
        "waiting": ("ApproximateNumberOfMessagesVisible", "Minimum"),
        "received": ("NumberOfMessagesReceived", "Sum"),
        "held": ("ApproximateNumberOfMessagesNotVisible", "Maximum"),
    }


def test_a_silent_publisher_is_told(template: Template) -> None:
    """No datapoint at all is the fault, so missing data breaches."""
    found = alarm(template, "publisher-silent")
    assert (found["MetricName"], found["Statistic"], found["Threshold"]) == ("MessagesWaiting", "SampleCount", 1)
    assert (found["ComparisonOperator"], found["TreatMissingData"]) == ("LessThanThreshold", "breaching")


def test_429s_are_told_by_call(template: Template) -> None:
    """The sum of 429s over the number of calls; a lane without calls has none."""
    found = alarm(template, "rate-limited")
    expression, used = math(found)
    assert expression == "IF(calls > 0, limited / calls, 0)"
    assert used == {"limited": ("CallsRateLimited", "Sum"), "calls": ("CallLatency", "SampleCount")}
    assert found["Threshold"] == 0.5


def test_refused_protection_is_told_when_it_lasts(template: Template) -> None:
    """One refusal is a scale-in that overtook a task; a quarter of an hour of them is not."""
    found = alarm(template, "protection-refused")
    assert (found["MetricName"], found["Period"], found["EvaluationPeriods"]) == ("ProtectionRefused", 300, 3)


def test_a_failed_deployment_of_these_services_is_told(template: Template) -> None:
    """The circuit breaker's roll-back is an event and no metric."""
    (rule,) = template.find_resources("AWS::Events::Rule").values()
    pattern = rule["Properties"]["EventPattern"]
    assert pattern["detail-type"] == ["ECS Deployment State Change"]
    assert pattern["detail"] == {"eventName": ["SERVICE_DEPLOYMENT_FAILED"]}
    assert len(pattern["resources"]) == 1
    (topic,) = template.find_resources("AWS::SNS::Topic")
    assert rule["Properties"]["Targets"][0]["Arn"] == {"Ref": topic}


def test_all_alarms_tell_one_topic_over_tls(template: Template) -> None:
    """CloudWatch and EventBridge may publish for this account, and nobody may without TLS."""
    (topic,) = template.find_resources("AWS::SNS::Topic")
    alarms = template.find_resources("AWS::CloudWatch::Alarm").values()
    told = [each["Properties"].get("AlarmActions") for each in alarms if "CpuHigh" not in str(each)]
    assert {str(actions) for actions in told if actions} == {str([{"Ref": topic}])}
    (policy,) = template.find_resources("AWS::SNS::TopicPolicy").values()
    statements = policy["Properties"]["PolicyDocument"]["Statement"]
    allowed = {s["Principal"]["Service"] for s in statements if s["Effect"] == "Allow"}
    assert allowed == {"cloudwatch.amazonaws.com", "events.amazonaws.com"}
    (denied,) = (s for s in statements if s["Effect"] == "Deny")
    assert denied["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_a_topic_of_ones_own_is_told_and_none_is_made() -> None:
    """An imported topic keeps its policy: this stack only names it."""
    arn = "arn:aws:sns:eu-west-1:111122223333:oncall"
    template = built(topic_arn=arn)
    template.resource_count_is("AWS::SNS::Topic", 0)
    assert alarm(template, "dead-letters")["AlarmActions"] == [arn]
