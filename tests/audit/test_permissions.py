"""Who may do what to which ARN: the whole table, written out from what each role is there for."""

from collections.abc import Iterable

import pytest

from stacks.loading import load_stage, load_stages
from tests.audit.permissions import Permission, attached, permissions
from tests.synth import Synthesized, stage, synthesize, varied

STAGES = load_stages()

#: What Kombu asks of a queue that it consumes (kombu/transport/SQS, `_get_bulk`, `basic_ack`, `basic_reject`).
CONSUME = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes"}
#: And of one that it sends to.
SEND = {"sqs:SendMessage", "sqs:GetQueueAttributes"}
#: "Amazon ECS task execution IAM role": log lines, secrets by ARN, an image from ECR.
LOG = {"logs:CreateLogStream", "logs:PutLogEvents"}
READ_SECRET = {"secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"}
PULL = {"ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"}

#: Actions without a resource of their own ("Actions, resources, and condition keys" for ECR, ECS and CloudWatch).
UNBOUND = {"ecr:GetAuthorizationToken", "ecs:ListTasks", "cloudwatch:PutMetricData"}

Row = dict[str, set[str]]
Table = dict[str, Row]


def each(arns: Iterable[str], actions: set[str]) -> Row:
    """Return the same actions on each of several."""
    return dict.fromkeys(arns, actions)


def table(name: str) -> Table:
    """Return what each role of a stage may do, by ARN; generated names are the constructs' own."""
    settings = STAGES[name]
    account = settings.account or "AccountId"
    here = f"{settings.region}:{account}"
    tasks = f"arn:Partition:ecs:{here}:task/Cluster/*"
    if settings.job_store.secret_arn:
        application, owner = settings.job_store.secret_arn, settings.job_store.owner_secret_arn
    else:
        application, owner = "DatabaseApplicationAttachment", "DatabaseClusterSecretAttachment"
    model = settings.model.secret_arn or "ModelSecret"
    token = settings.web.token_secret_arn or "WebToken"
    repository = f"arn:Partition:ecr:{here}:repository/cdk-hnb659fds-container-assets-{account}-{settings.region}"
    image = {} if settings.image.name else {repository: PULL, "*": {"ecr:GetAuthorizationToken"}}

    def starts(logs: str, *secrets: str) -> Row:
        return {logs: LOG, **each(secrets, READ_SECRET), **image}

    blocks = {"Drawings/drawings/*": {"s3:GetObject"}, "Drawings/blocks/*": {"s3:GetObject", "s3:PutObject"}}
    return {
        # A split job's steps go to the heavy lane; only heavy work is protected.
        "HeavyTaskTaskRole": {
            "HeavyQueue": CONSUME | SEND,
            "HeavyDeadLetters": {"sqs:SendMessage"},
            tasks: {"ecs:UpdateTaskProtection", "ecs:GetTaskProtection"},
            **blocks,
        },
        "FastTaskTaskRole": {
            "FastQueue": CONSUME,
            "FastDeadLetters": {"sqs:SendMessage"},
            "HeavyQueue": SEND,
            **blocks,
        },
        # It looks at the dead letters, and cannot delete one.
        "ReconcilerTaskTaskRole": {
            **each(("HeavyQueue", "FastQueue"), SEND),
            **each(("HeavyDeadLetters", "FastDeadLetters"), {"sqs:ReceiveMessage"}),
        },
        "PublisherRole": {
            **each(("HeavyQueue", "FastQueue"), {"sqs:GetQueueAttributes"}),
            "HeavyService": {"ecs:DescribeServices"},
            tasks: {"ecs:GetTaskProtection"},
            "*": {"ecs:ListTasks", "cloudwatch:PutMetricData"},
            "PublisherLogs": LOG,
        },
        "MigrationRole": {
            "MigrationTask": {"ecs:RunTask"},
            tasks: {"ecs:DescribeTasks"},
            **each(("MigrationTaskTaskRole", "MigrationTaskExecutionRole"), {"iam:PassRole"}),
            "MigrationFunctionLogs": LOG,
        },
        "ReconcilerStarter": {
            "ReconcilerTask": {"ecs:RunTask"},
            tasks: {"ecs:TagResource"},
            **each(("ReconcilerTaskTaskRole", "ReconcilerTaskExecutionRole"), {"iam:PassRole"}),
        },
        # Whoever submits: sends, uploads, and never receives.
        "Role": {
            **each(("HeavyQueue", "FastQueue"), SEND),
            "Drawings/drawings/*": {"s3:PutObject"},
            application: {"secretsmanager:GetSecretValue"},
        },
        "WebTaskTaskRole": {
            **each(("HeavyQueue", "FastQueue"), SEND),
            "Drawings/drawings/*": {"s3:GetObject", "s3:PutObject"},
        },
        "HeavyTaskExecutionRole": starts("HeavyLogs", application, model),
        "FastTaskExecutionRole": starts("FastLogs", application, model),
        "ReconcilerTaskExecutionRole": starts("ReconcilerLogs", application),
        "MigrationTaskExecutionRole": starts("MigrationLogs", application, owner),
        "WebTaskExecutionRole": starts("WebLogs", application, token),
        "VpcAllIAMRole": {"VpcAllLogGroup": LOG | {"logs:DescribeLogStreams"}},
    }


def found(built: Synthesized) -> Table:
    """Return the permissions of a synthesized stage in the table's form."""
    rows: Table = {}
    for one in permissions(built):
        rows.setdefault(one.who, {}).setdefault(one.arn, set()).add(one.action)
    return rows


@pytest.mark.parametrize("name", STAGES)
def test_every_role_may_do_exactly_what_its_row_says(name: str) -> None:
    """No role more, no action more, no ARN more; and none fewer."""
    assert found(stage(name)) == table(name)


@pytest.mark.parametrize("name", STAGES)
def test_no_permission_comes_from_elsewhere(name: str) -> None:
    """No role carries a managed or an inline policy, which the table would not show."""
    assert attached(stage(name)) == []


def test_without_the_fast_lane_no_role_knows_it() -> None:
    """fast_lane = "off": prod's table without the fast lane's roles and queues."""
    built = found(synthesize(varied(load_stage("prod"), fast_lane="off")))
    expected = {
        who: {arn: actions for arn, actions in row.items() if not arn.startswith("Fast")}
        for who, row in table("prod").items()
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


def test_an_open_end_is_under_a_prefix_or_in_a_cluster() -> None:
    """Every other wildcard is the last part of an ARN: an object under a prefix, or a task of one cluster, bounded."""
    ends = {one for one in every_permission() if "*" in one.arn and one.arn != "*"}
    assert {one.arn.count("*") for one in ends} == {1}
    assert {one.arn.rpartition("/")[2] for one in ends} == {"*"}
    assert {one.action for one in ends if not one.bounded} == {"s3:GetObject", "s3:PutObject"}
