"""The migration construct: one task in the middle of a deployment, and who waits for it."""

import pytest
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.assertions import Template

from headway_cdk import Migration
from tests.constructs.parts import Parts
from tests.synth import as_list, stack, statements, text

_ARN = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:"


@pytest.fixture(scope="module")
def template() -> Template:
    """A stack with one migration over the test parts."""
    parts = Parts.within(stack())
    Migration(
        parts.stack,
        "Migration",
        cluster=parts.cluster,
        image=ecs.ContainerImage.from_registry("worker@sha256:" + "0" * 64),
        database_secret=secretsmanager.Secret.from_secret_complete_arn(parts.stack, "Db", f"{_ARN}db-abcdef"),
        owner_secret=secretsmanager.Secret.from_secret_complete_arn(parts.stack, "Owner", f"{_ARN}owner-abcdef"),
    )
    return Template.from_stack(parts.stack)


def test_another_image_is_another_run(template: Template) -> None:
    """The resource names the task definition, whose revision changes with the image and with every setting of it."""
    (run,) = template.find_resources("Custom::HeadwayMigration").values()
    (definition,) = template.find_resources("AWS::ECS::TaskDefinition")
    assert run["Properties"]["TaskDefinition"] == {"Ref": definition}
    assert run["Properties"]["AssignPublicIp"] == "DISABLED"
    assert len(run["Properties"]["Subnets"]) == 2
    (container,) = template.find_resources("AWS::ECS::TaskDefinition")[definition]["Properties"]["ContainerDefinitions"]
    assert container["Command"] == ["python", "-m", "headway.jobs", "upgrade"]
    assert {secret["Name"] for secret in container["Secrets"]} >= {"DATABASE_OWNER_USER", "DATABASE_OWNER_PASSWORD"}


def test_its_function_starts_this_task_and_no_other(template: Template) -> None:
    """RunTask on the one definition in the one cluster, PassRole for its two roles, and its own log."""
    (definition,) = template.find_resources("AWS::ECS::TaskDefinition")
    (cluster,) = template.find_resources("AWS::ECS::Cluster")
    here = {"ArnEquals": {"ecs:cluster": {"Fn::GetAtt": [cluster, "Arn"]}}}
    granted = {
        action: ([text(each) for each in as_list(statement["Resource"])], statement.get("Condition"))
        for name, statement in statements(template.to_json())
        if name.startswith("MigrationRole")
        for action in as_list(statement["Action"])
    }
    assert granted["ecs:RunTask"] == ([f"${{{definition}}}"], here)
    assert granted["ecs:DescribeTasks"][0][0].endswith(f":task/${{{cluster}}}/*")
    assert granted["ecs:DescribeTasks"][1] == here
    assert len(granted["iam:PassRole"][0]) == 2
    assert set(granted) == {
        "ecs:RunTask",
        "ecs:DescribeTasks",
        "iam:PassRole",
        "logs:CreateLogStream",
        "logs:PutLogEvents",
    }
