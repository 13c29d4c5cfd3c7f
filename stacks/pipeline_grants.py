"""What CDK Pipelines grants its own roles beyond what a name can bound, and why each of it stays.

It makes the roles itself and takes no narrower ones, so that none of this can be mended here. What was found is what
cdk-nag's AwsSolutions pack finds.
"""

from collections.abc import Iterator

import aws_cdk as cdk
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_s3 as s3
from aws_cdk import pipelines
from constructs import IConstruct

from headway_cdk import acknowledge, acknowledge_open_arn

#: aws-cdk-lib, aws-s3/lib/perms.ts: what the CDK calls reading and writing a bucket.
_BUCKET_ACTIONS = ("s3:Abort*", "s3:DeleteObject*", "s3:GetBucket*", "s3:GetObject*", "s3:List*")
#: aws-cdk-lib, aws-kms/lib/private/perms.ts, likewise of a key.
_KEY_ACTIONS = ("kms:GenerateDataKey*", "kms:ReEncrypt*")


def acknowledge_grants(pipeline: pipelines.CodePipeline, artifacts: s3.IBucket) -> None:
    """Acknowledge what the roles of a pipeline that is built may do to its ``artifacts``, and beside them."""
    for action in _BUCKET_ACTIONS:
        acknowledge(pipeline, f"IAM5[Action::{action}]", "the CDK's grant of a bucket: the pipeline's own, no other")
    for action in _KEY_ACTIONS:
        acknowledge(pipeline, f"IAM5[Action::{action}]", "the CDK's grant of a key: that of the pipeline's own bucket")
    every = artifacts.arn_for_objects("*")
    acknowledge_open_arn(pipeline, every, "an artifact's key is not known before it is there; the bucket is")
    for project in _builds(pipeline):
        _acknowledge_build(project, project.project_name, streams=":*", reports="-*")
    update, assets = pipeline.node.find_child("UpdatePipeline"), pipeline.node.find_child("Assets")
    account = cdk.Stack.of(pipeline).account
    for arn, reason in (
        (f"arn:*:iam::{account}:role/*", "it deploys its own stack; a condition leaves the roles of the bootstrap"),
        ("*", "it looks for its own stack and the bootstrap's bucket, and changes neither"),
    ):
        acknowledge_open_arn(update, arn, reason)
    for role in assets.node.children:
        if role.node.id.endswith("Role"):
            _acknowledge_build(role, "", streams="*", reports="*")
            acknowledge_open_arn(role, "*", "one role for all builds that publish an asset; it starts and stops them")


def _builds(pipeline: pipelines.CodePipeline) -> Iterator[codebuild.Project]:
    """Yield the builds that have a role of their own: all but those that publish an asset."""
    for each in pipeline.node.find_all():
        if isinstance(each, codebuild.Project) and each.node.try_find_child("Role"):
            yield each


def _acknowledge_build(construct: IConstruct, project: str, *, streams: str, reports: str) -> None:
    """Acknowledge what a build writes: its log, and test reports that none of these builds makes."""
    where = f"arn:{cdk.Aws.PARTITION}:%s:{cdk.Stack.of(construct).region}:{cdk.Stack.of(construct).account}"
    log = f"{where % 'logs'}:log-group:/aws/codebuild/{project}{streams}"
    acknowledge_open_arn(construct, log, "a build's log is named by CodeBuild, after its project and its run")
    report = f"{where % 'codebuild'}:report-group/{project}{reports}"
    acknowledge_open_arn(construct, report, "CodeBuild names a report group after its project; these builds have none")
