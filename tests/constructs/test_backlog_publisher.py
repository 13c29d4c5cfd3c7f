"""The publisher construct: what its function is made of, how often it runs, and what it may read."""

from pathlib import Path
from typing import Any

import pytest
from aws_cdk.assertions import Match, Template

from headway.contract import PublisherEnv
from headway.scaling import ScalingPlan
from headway_cdk import BacklogPublisher
from tests.constructs.parts import PLAN, Parts
from tests.synth import ROOT, as_list, stack, statements, text


def built(**props: Any) -> Template:
    """Return a stack with one publisher over the test parts."""
    parts = Parts.within(stack())
    BacklogPublisher(
        parts.stack,
        "Publisher",
        stage="test",
        cluster=parts.cluster,
        service=parts.worker().service,
        lanes={"heavy": parts.lane},
        plan=PLAN,
        **props,
    )
    return Template.from_stack(parts.stack)


@pytest.fixture(scope="module")
def template() -> Template:
    """A publisher that beats each ten seconds."""
    return built(publish_every_s=10)


def test_runs_each_minute_and_never_twice_at_once(template: Template) -> None:
    """One invocation a minute, at the clock's, one at a time, and a late one is dropped rather than repeated."""
    template.has_resource_properties("AWS::Events::Rule", {"ScheduleExpression": "cron(* * * * ? *)"})
    template.has_resource_properties("AWS::Lambda::Function", {"Timeout": 62, "ReservedConcurrentExecutions": 1})
    template.has_resource_properties(
        "AWS::Lambda::EventInvokeConfig", {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}
    )
    template.has_resource_properties(
        "AWS::Events::Rule",
        {"Targets": [Match.object_like({"RetryPolicy": {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}})]},
    )


def test_environment_is_the_contract(template: Template) -> None:
    """What the function parses is the plan and the interval that the construct was given."""
    (function,) = template.find_resources("AWS::Lambda::Function").values()
    variables = {name: text(value) for name, value in function["Properties"]["Environment"]["Variables"].items()}
    env = PublisherEnv.from_env(variables)
    assert ScalingPlan.from_mapping(env.plan) == PLAN
    assert (env.publish_every_s, env.stage, list(env.queue_urls)) == (10, "test", ["heavy"])


def granted(template: Template) -> list[tuple[list[str], list[str], Any]]:
    """Return the role's statements as actions, resources and condition; a task's id is cut off."""
    return [
        (as_list(s["Action"]), [text(r).split("/")[0] for r in as_list(s["Resource"])], s.get("Condition"))
        for logical_id, s in statements(template.to_json())
        if logical_id.startswith("Publisher")
    ]


def test_role_is_exact_and_its_own(template: Template) -> None:
    """No managed policy; each action has an ARN, or a condition where AWS knows no ARN for it."""
    (role,) = [r for name, r in template.find_resources("AWS::IAM::Role").items() if name.startswith("Publisher")]
    assert "ManagedPolicyArns" not in role["Properties"]
    (cluster,) = template.find_resources("AWS::ECS::Cluster")
    (service,) = template.find_resources("AWS::ECS::Service")
    (queue,) = [q for q in template.find_resources("AWS::SQS::Queue") if "Dead" not in q]
    here = {"ArnEquals": {"ecs:cluster": {"Fn::GetAtt": [cluster, "Arn"]}}}
    account = "arn:${AWS::Partition}:ecs:eu-west-1:111122223333"
    found = {tuple(actions): (resources, condition) for actions, resources, condition in granted(template)}
    (logs,) = [g for g in template.find_resources("AWS::Logs::LogGroup") if g.startswith("Publisher")]
    assert found == {
        ("logs:CreateLogStream", "logs:PutLogEvents"): ([f"${{{logs}.Arn}}"], None),
        ("sqs:GetQueueAttributes",): ([f"${{{queue}.Arn}}"], None),
        ("ecs:DescribeServices",): ([f"${{{service}}}"], None),
        ("ecs:GetTaskProtection",): ([f"{account}:task"], here),
        ("ecs:ListTasks",): (["*"], here),
        ("cloudwatch:PutMetricData",): (["*"], {"StringEquals": {"cloudwatch:namespace": "Headway"}}),
    }


def test_asset_is_the_math_the_contract_and_the_function_alone() -> None:
    """An allow-list makes the asset: no stray file gets in, and nothing the function imports is left out."""
    parts = Parts.within(stack())
    publisher = BacklogPublisher(
        parts.stack,
        "Publisher",
        stage="test",
        cluster=parts.cluster,
        service=parts.worker().service,
        lanes={"heavy": parts.lane},
        plan=PLAN,
    )
    template = Template.from_stack(parts.stack)
    (function,) = template.find_resources("AWS::Lambda::Function").values()
    digest = function["Properties"]["Code"]["S3Key"].removesuffix(".zip")
    folder = Path(publisher.node.root.outdir) / f"asset.{digest}"  # type: ignore[attr-defined]  # the root is an App
    runtime = ROOT / "runtime"
    expected = {
        str(path.relative_to(runtime))
        for path in (
            runtime / "headway/__init__.py",
            *(runtime / "headway/contract").glob("*.py"),
            *(runtime / "headway/scaling").glob("*.py"),
            *(runtime / "headway/publisher").glob("*.py"),
        )
    }
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == expected


@pytest.mark.parametrize("every", [0, 7, 61])
def test_interval_must_divide_a_minute(every: int) -> None:
    """An interval that does not divide a minute would leave gaps at its end."""
    with pytest.raises(ValueError, match=f"publish_every_s={every}: must divide 60"):
        built(publish_every_s=every)
