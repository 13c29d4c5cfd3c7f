"""The lane: both queues' attributes, the names they find each other by, and grants that name one queue exactly."""

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Match, Template

from headway_cdk import Lane
from tests.synth import as_list, stack, statements, text


def lane(scope: cdk.Stack, **props: Any) -> Lane:
    """Return a lane with a visibility timeout of 120 s unless told otherwise."""
    return Lane(scope, "Heavy", **{"visibility_timeout_s": 120, **props})


def queues(template: Template) -> dict[str, Mapping[str, Any]]:
    """Return both queues' resources: live and dead."""
    found = template.find_resources("AWS::SQS::Queue")
    return {
        "dead": next(v for k, v in found.items() if "Dead" in k),
        "live": next(v for k, v in found.items() if "Dead" not in k),
    }


def test_queue_carries_the_numbers_it_was_given() -> None:
    """Visibility, wait, retention, size and receives reach the queue as given."""
    scope = stack()
    lane(scope, visibility_timeout_s=90, wait_time_s=7, retention_s=3_600, max_receives=6, max_message_bytes=2_048)
    Template.from_stack(scope).has_resource_properties(
        "AWS::SQS::Queue",
        {
            "VisibilityTimeout": 90,
            "ReceiveMessageWaitTimeSeconds": 7,
            "MessageRetentionPeriod": 3_600,
            "MaximumMessageSize": 2_048,
            "RedrivePolicy": {"maxReceiveCount": 6, "deadLetterTargetArn": Match.any_value()},
        },
    )


def test_both_queues_are_encrypted_retained_and_tls_only() -> None:
    """Neither queue is readable at rest or on the wire, and neither goes with its stack."""
    scope = stack()
    lane(scope)
    template = Template.from_stack(scope)
    for queue in queues(template).values():
        assert queue["Properties"]["SqsManagedSseEnabled"] is True
        assert (queue["DeletionPolicy"], queue["UpdateReplacePolicy"]) == ("Retain", "Retain")
    denials = [
        statement["Condition"]
        for policy in template.find_resources("AWS::SQS::QueuePolicy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
    ]
    assert denials == [{"Bool": {"aws:SecureTransport": "false"}}] * 2


def test_dead_letters_come_from_this_queue_alone() -> None:
    """The redrive allow policy names, by queue, the very name that the lane's queue is created with."""
    scope = stack()
    lane(scope)
    found = queues(Template.from_stack(scope))
    allowed = found["dead"]["Properties"]["RedriveAllowPolicy"]
    assert allowed["redrivePermission"] == "byQueue"
    name = found["live"]["Properties"]["QueueName"]
    assert [text(arn) for arn in allowed["sourceQueueArns"]] == [
        f"arn:${{AWS::Partition}}:sqs:eu-west-1:111122223333:{text(name)}"
    ]


def test_generated_name_is_new_with_every_life_of_the_stack() -> None:
    """A retained queue never blocks a new stack: the name ends in a part of the stack id's UUID."""
    scope = stack()
    lane(scope)
    name = queues(Template.from_stack(scope))["live"]["Properties"]["QueueName"]
    assert name["Fn::Join"][1][-1] == {
        "Fn::Select": [
            4,
            {"Fn::Split": ["-", {"Fn::Select": [2, {"Fn::Split": ["/", {"Ref": "AWS::StackId"}]}]}]},
        ]
    }


def test_given_name_is_used() -> None:
    """A team that names its queue gets that name, and the dead letters' beside it."""
    scope = stack()
    lane(scope, queue_name="jobs")
    found = queues(Template.from_stack(scope))
    assert found["live"]["Properties"]["QueueName"] == "jobs"
    assert found["dead"]["Properties"]["QueueName"] == "jobs-dead-letters"


@pytest.mark.parametrize(
    ("props", "message"),
    [
        ({"queue_name": "jobs.fifo"}, r"queue_name='jobs.fifo': a lane is a standard queue; drop .fifo"),
        ({"retention_s": 600, "dlq_retention_s": 600}, r"dlq_retention_s=600 <= retention_s=600: evidence expires"),
        ({"wait_time_s": 20, "visibility_timeout_s": 20}, r"wait_time_s=20 must be 0..visibility_timeout_s=20"),
    ],
)
def test_contradictory_properties_are_refused(props: dict[str, Any], message: str) -> None:
    """Properties that contradict each other stop the synthesis with a sentence that names both."""
    with pytest.raises(ValueError, match=message):
        lane(stack(), **props)


@pytest.mark.parametrize(
    ("grant", "actions", "target"),
    [
        (
            "grant_consume",
            ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"],
            "HeavyQueue",
        ),
        ("grant_send", ["sqs:GetQueueAttributes", "sqs:SendMessage"], "HeavyQueue"),
        ("grant_bury", ["sqs:SendMessage"], "HeavyDeadLetters"),
        ("grant_count", ["sqs:GetQueueAttributes"], "HeavyQueue"),
    ],
)
def test_grant_names_one_queue_and_no_more_actions_than_kombu_calls(
    grant: str, actions: list[str], target: str
) -> None:
    """Each grant is a list of whole actions on one ARN; none holds GetQueueUrl or a wildcard."""
    scope = stack()
    role = iam.Role(scope, "Role", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))
    getattr(lane(scope), grant)(role)
    ((_id, statement),) = statements(Template.from_stack(scope).to_json())
    assert sorted(as_list(statement["Action"])) == actions
    name, attribute = statement["Resource"]["Fn::GetAtt"]
    assert (name[: len(target)], attribute) == (target, "Arn")


def test_own_key_comes_with_its_grants() -> None:
    """With a customer's key, senders may make data keys and consumers only decrypt."""
    scope = stack()
    role = iam.Role(scope, "Role", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))
    keyed = lane(scope, encryption_key=kms.Key(scope, "Key"))
    keyed.grant_consume(role)
    template = Template.from_stack(scope)
    assert all("KmsMasterKeyId" in queue["Properties"] for queue in queues(template).values())
    granted = [action for _, s in statements(template.to_json()) for action in as_list(s["Action"])]
    assert [action for action in granted if action.startswith("kms:")] == ["kms:Decrypt"]
