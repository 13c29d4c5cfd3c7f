"""What submits work: a role that can send and upload, and the environment that tells it where."""

import json

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from headway.contract import DRAWINGS_PREFIX, ProducerEnv
from stacks.jobstore import JobStoreStack
from stacks.queues import QueueStack
from stacks.settings import StageSettings


class ProducerStack(cdk.Stack):
    """The send-only role of whatever submits jobs, and the switch that sends interactive work to the fast lane."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        settings: StageSettings,
        stack_name: str,
        queues: QueueStack,
        store: JobStoreStack,
    ) -> None:
        super().__init__(scope, id_, stack_name=stack_name)
        self.role = iam.Role(
            self,
            "Role",
            description=f"Submits jobs to the {settings.name} stage",
            assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"),
        )
        for lane in queues.lanes.values():
            lane.grant_send(self.role)
        iam.Grant.add_to_principal(
            grantee=self.role,
            actions=["s3:PutObject"],
            resource_arns=[store.drawings.arn_for_objects(f"{DRAWINGS_PREFIX}*")],
        )
        iam.Grant.add_to_principal(
            grantee=self.role,
            actions=["secretsmanager:GetSecretValue"],
            resource_arns=[store.database_secret.secret_arn],
        )
        environment = ProducerEnv(
            stage=settings.name,
            region=self.region,
            queue_urls=queues.urls,
            drawings_bucket=store.drawings.bucket_name,
            fast_queue="fast" if settings.fast_lane == "on" else "",
        )
        cdk.CfnOutput(self, "ProducerEnvironment", value=json.dumps(environment.to_env(), sort_keys=True))
        cdk.CfnOutput(self, "ProducerRoleArn", value=self.role.role_arn)
        cdk.CfnOutput(self, "DatabaseSecretArn", value=store.database_secret.secret_arn)
