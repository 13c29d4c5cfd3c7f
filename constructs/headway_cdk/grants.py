"""What a role may do, as exactly as IAM can say it: an ARN that stays open is bounded, and its reason stated."""

import aws_cdk as cdk
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager

from headway_cdk.acknowledged import acknowledge_open_arn


def allow(grantee: iam.IGrantable, action: str, *arns: str) -> None:
    """Let ``grantee`` do one thing to exactly these."""
    iam.Grant.add_to_principal(grantee=grantee, actions=[action], resource_arns=list(arns))


def allow_objects(role: iam.IRole, action: str, bucket: s3.IBucket, *prefixes: str) -> None:
    """Let ``role`` do one thing to the objects of ``bucket`` under each of ``prefixes``, and use its key for that.

    A reader decrypts, a writer asks for a data key ("Using server-side encryption with AWS KMS keys", S3 guide).
    """
    arns = [bucket.arn_for_objects(f"{prefix}*") for prefix in prefixes]
    allow(role, action, *arns)
    if bucket.encryption_key:
        allow(role, "kms:GenerateDataKey" if action == "s3:PutObject" else "kms:Decrypt", bucket.encryption_key.key_arn)
    for arn in arns:
        acknowledge_open_arn(role, arn, "an object's key is not known before it is there; its prefix is")


def allow_opened(role: iam.IRole, secret: secretsmanager.ISecret) -> None:
    """Let ``role`` use the key that ``secret`` is encrypted with, where that is a key of one's own.

    The CDK leaves this to the key's own policy, which an imported key's cannot be ("Amazon ECS task execution IAM
    role": kms:Decrypt where a secret has a customer managed key).
    """
    if secret.encryption_key:
        allow(role, "kms:Decrypt", secret.encryption_key.key_arn)


def allow_unbound(role: iam.Role, action: str, *, where: dict[str, dict[str, str]]) -> None:
    """Let ``role`` do what AWS can bind to no resource, under the condition ``where``.

    "Actions, resources, and condition keys" of each service says which actions those are.
    """
    role.add_to_policy(iam.PolicyStatement(actions=[action], resources=["*"], conditions=where))
    acknowledge_open_arn(role, "*", "actions that AWS binds to no resource; a condition bounds each")


def allow_tasks(role: iam.IRole, cluster: ecs.ICluster, *actions: str) -> None:
    """Let ``role`` do these to the tasks of ``cluster``, and to no other's.

    A task's id is not known before it runs, so the last part of the ARN is open, and the condition closes the cluster
    ("Actions, resources, and condition keys for Amazon ECS": resource task, key ecs:cluster).
    """
    _on_tasks(role, cluster, list(actions), in_cluster(cluster))


def allow_run(role: iam.Role, cluster: ecs.ICluster, definition: ecs.FargateTaskDefinition) -> None:
    """Let ``role`` run this task in ``cluster``, with the roles that it has; it may give those to ECS's tasks alone.

    "Amazon ECS EventBridge IAM role" (ECS guide) has the same condition.
    """
    role.add_to_policy(
        iam.PolicyStatement(
            actions=["ecs:RunTask"], resources=[definition.task_definition_arn], conditions=in_cluster(cluster)
        )
    )
    role.add_to_policy(
        iam.PolicyStatement(
            actions=["iam:PassRole"],
            resources=[definition.task_role.role_arn, definition.obtain_execution_role().role_arn],
            conditions={"StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}},
        )
    )


def allow_tags_at_run(role: iam.IRole, cluster: ecs.ICluster) -> None:
    """Let ``role`` tag a task of ``cluster`` as it runs it, and never after.

    Tags at creation are an action of their own, bounded by the one that creates ("Grant permission to tag resources
    on creation", ECS guide).
    """
    _on_tasks(role, cluster, ["ecs:TagResource"], {"StringEquals": {"ecs:CreateAction": "RunTask"}})


def in_cluster(cluster: ecs.ICluster) -> dict[str, dict[str, str]]:
    """Return the condition that a request is about this cluster."""
    return {"ArnEquals": {"ecs:cluster": cluster.cluster_arn}}


def _on_tasks(role: iam.IRole, cluster: ecs.ICluster, actions: list[str], where: dict[str, dict[str, str]]) -> None:
    arn = cdk.Stack.of(cluster).format_arn(service="ecs", resource="task", resource_name=f"{cluster.cluster_name}/*")
    role.add_to_principal_policy(iam.PolicyStatement(actions=actions, resources=[arn], conditions=where))
    acknowledge_open_arn(role, arn, "a task's id is not known before it runs; the cluster is, and a condition")
