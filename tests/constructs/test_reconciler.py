"""The reconciler construct: when it runs, what it may do, and what tells that it did not."""

from typing import Any

import pytest
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.assertions import Template

from headway.contract import ReconcilerEnv
from headway_cdk import Reconciler
from tests.constructs.parts import Parts
from tests.synth import as_list, stack, statements, text


def built(**props: Any) -> Template:
    """Return a stack with one reconciler over the test parts."""
    parts = Parts.within(stack())
    Reconciler(
        parts.stack,
        "Reconciler",
        cluster=parts.cluster,
        image=ecs.ContainerImage.from_registry("worker@sha256:" + "0" * 64),
        environment=ReconcilerEnv(
            stage="test",
            region="eu-west-1",
            queue_urls={"heavy": parts.lane.queue.queue_url},
            dead_letter_urls={"heavy": parts.lane.dead_letters.queue_url},
            idle_limit_s=3_600,
            lease_s=120,
        ),
        lanes={"heavy": parts.lane},
        database_secret=secretsmanager.Secret.from_secret_complete_arn(
            parts.stack, "Db", "arn:aws:secretsmanager:eu-west-1:111122223333:secret:db-abcdef"
        ),
        cpu_units=256,
        memory_mib=512,
        **props,
    )
    return Template.from_stack(parts.stack)


@pytest.fixture(scope="module")
def template() -> Template:
    """A reconciler that runs each minute."""
    return built()


def test_it_runs_each_minute_as_a_task_of_the_workers_image(template: Template) -> None:
    """One task a minute in the private subnets; a late start is dropped, the next minute brings another."""
    (rule,) = template.find_resources("AWS::Events::Rule").values()
    assert rule["Properties"]["ScheduleExpression"] == "rate(1 minute)"
    (target,) = rule["Properties"]["Targets"]
    assert target["EcsParameters"]["TaskCount"] == 1
    assert target["EcsParameters"]["NetworkConfiguration"]["AwsVpcConfiguration"]["AssignPublicIp"] == "DISABLED"
    assert target["RetryPolicy"] == {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}
    (definition,) = template.find_resources("AWS::ECS::TaskDefinition").values()
    (container,) = definition["Properties"]["ContainerDefinitions"]
    assert container["Command"] == ["python", "-m", "headway.reconciler"]
    variables = {pair["Name"]: text(pair["Value"]) for pair in container["Environment"]}
    assert ReconcilerEnv.from_env(variables).idle_limit_s == 3_600


def test_its_role_counts_sends_and_looks_and_nothing_else(template: Template) -> None:
    """It may receive dead letters and delete none; it takes no work from a lane."""
    queues = template.find_resources("AWS::SQS::Queue")
    (dead,) = [name for name in queues if "Dead" in name]
    (live,) = [name for name in queues if "Dead" not in name]
    found = {
        (action, text(resource))
        for name, statement in statements(template.to_json())
        if name.startswith("ReconcilerTaskTaskRole")
        for action in as_list(statement["Action"])
        for resource in as_list(statement["Resource"])
    }
    assert found == {
        ("sqs:GetQueueAttributes", f"${{{live}.Arn}}"),
        ("sqs:SendMessage", f"${{{live}.Arn}}"),
        ("sqs:ReceiveMessage", f"${{{dead}.Arn}}"),
    }


def test_silence_is_an_alarm(template: Template) -> None:
    """Ten minutes without one ended run, or without any data, and it goes off."""
    template.has_resource_properties(
        "AWS::CloudWatch::Alarm",
        {
            "Namespace": "Headway",
            "MetricName": "ReconcilerRuns",
            "Dimensions": [{"Name": "Stage", "Value": "test"}],
            "Period": 600,
            "Statistic": "Sum",
            "Threshold": 1,
            "ComparisonOperator": "LessThanThreshold",
            "EvaluationPeriods": 1,
            "TreatMissingData": "breaching",
        },
    )


def test_an_alarm_between_two_runs_is_refused() -> None:
    """It would go off although every run ended."""
    with pytest.raises(ValueError, match="silent_min=9: must be at least twice every_min=5"):
        built(every_min=5, silent_min=9)
