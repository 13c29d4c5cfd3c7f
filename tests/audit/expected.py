"""Who may do what to which ARN: the whole table, written out from what each role is there for."""

from collections.abc import Iterable

from stacks.settings import StageSettings

#: What Kombu asks of a queue that it consumes (kombu/transport/SQS, `_get_bulk`, `basic_ack`, `basic_reject`).
CONSUME = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes"}
#: And of one that it sends to.
SEND = {"sqs:SendMessage", "sqs:GetQueueAttributes"}
#: "Amazon ECS task execution IAM role": log lines, secrets by ARN, an image from ECR.
LOG = {"logs:CreateLogStream", "logs:PutLogEvents"}
READ_SECRET = {"secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"}
PULL = {"ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"}

Row = dict[str, set[str]]
Table = dict[str, Row]


def each(arns: Iterable[str], actions: set[str]) -> Row:
    """Return the same actions on each of several."""
    return dict.fromkeys(arns, actions)


def table(settings: StageSettings) -> Table:
    """Return what each role of a stage may do, by ARN; generated names are the constructs' own."""
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
