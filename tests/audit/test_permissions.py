"""No role may do more than the table says, or less, and what the table may hold at all."""

import pytest

from stacks.loading import load_stage, load_stages
from tests.audit.expected import Table, table
from tests.audit.permissions import Permission, attached, permissions
from tests.synth import Synthesized, as_list, stage, statements, synthesize, varied

STAGES = load_stages()

#: Actions without a resource of their own ("Actions, resources, and condition keys" for ECR, ECS and CloudWatch).
UNBOUND = {"ecr:GetAuthorizationToken", "ecs:ListTasks", "cloudwatch:PutMetricData"}


def found(built: Synthesized) -> Table:
    """Return the permissions of a synthesized stage in the table's form."""
    rows: Table = {}
    for one in permissions(built):
        rows.setdefault(one.who, {}).setdefault(one.arn, set()).add(one.action)
    return rows


@pytest.mark.parametrize("name", STAGES)
def test_every_role_may_do_exactly_what_its_row_says(name: str) -> None:
    """No role more, no action more, no ARN more; and none fewer."""
    assert found(stage(name)) == table(STAGES[name])


@pytest.mark.parametrize("name", STAGES)
def test_no_permission_comes_from_elsewhere(name: str) -> None:
    """No role carries a managed or an inline policy, which the table would not show."""
    assert attached(stage(name)) == []


def test_without_the_fast_lane_no_role_knows_it() -> None:
    """fast_lane = "off": prod's table without the fast lane's roles and queues."""
    built = found(synthesize(varied(load_stage("prod"), fast_lane="off")))
    expected = {
        who: {arn: actions for arn, actions in row.items() if not arn.startswith("Fast")}
        for who, row in table(STAGES["prod"]).items()
        if not who.startswith("Fast")
    }
    assert built == expected


def every_permission() -> list[Permission]:
    """Return every stage's permissions."""
    return [one for name in STAGES for one in permissions(stage(name))]


def test_no_action_is_a_wildcard() -> None:
    """Every allowed action is spelled out."""
    assert [one for one in every_permission() if "*" in one.action] == []


def test_an_open_resource_is_one_that_aws_cannot_name() -> None:
    """Only actions without a resource of their own have "*", and a condition bounds all but the ECR log-in."""
    opened = [one for one in every_permission() if one.arn == "*"]
    assert {one.action for one in opened} == UNBOUND
    assert {one.action for one in opened if not one.bounded} == {"ecr:GetAuthorizationToken"}


def test_a_role_is_passed_to_ecs_tasks_and_to_no_other_service() -> None:
    """Two roles of each stage pass roles on, those that run a task once: the one that migrates, and the schedule's."""
    passing = [
        (name, statement.get("Condition"))
        for name in STAGES
        for template in stage(name).templates.values()
        for _policy, statement in statements(template)
        if "iam:PassRole" in as_list(statement["Action"])
    ]
    bound = {"StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}}
    assert passing == [(name, bound) for name in STAGES for _ in ("Migration", "Reconciler")]


def test_an_open_end_is_under_a_prefix_or_in_a_cluster() -> None:
    """Every other wildcard is the last part of an ARN: an object under a prefix, or a task of one cluster, bounded."""
    ends = {one for one in every_permission() if "*" in one.arn and one.arn != "*"}
    assert {one.arn.count("*") for one in ends} == {1}
    assert {one.arn.rpartition("/")[2] for one in ends} == {"*"}
    assert {one.action for one in ends if not one.bounded} == {"s3:GetObject", "s3:PutObject"}
