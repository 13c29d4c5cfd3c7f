"""What submits work: the web service; and a role that can send and upload, with the environment that tells it where."""

import dataclasses
import json

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from headway.contract import DRAWINGS_PREFIX, ProducerEnv, WebEnv
from headway_cdk import WebService, acknowledge, allow, allow_objects, allow_opened
from stacks.consumer import ConsumerStack
from stacks.encryption import key_for
from stacks.jobstore import JobStoreStack
from stacks.queues import QueueStack
from stacks.settings import StageSettings


class ProducerStack(cdk.Stack):
    """The web service, the send-only role of whatever else submits jobs, and the switch that names the fast lane."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        settings: StageSettings,
        stack_name: str,
        queues: QueueStack,
        store: JobStoreStack,
        consumer: ConsumerStack,
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
        allow_objects(self.role, "s3:PutObject", store.drawings, DRAWINGS_PREFIX)
        allow(self.role, "secretsmanager:GetSecretValue", store.database_secret.secret_arn)
        allow_opened(self.role, store.database_secret)
        environment = ProducerEnv(
            stage=settings.name,
            region=self.region,
            queue_urls=queues.urls,
            drawings_bucket=store.drawings.bucket_name,
            fast_queue="fast" if settings.fast_lane == "on" else "",
        )
        self.web = self._web(settings, environment, queues, store, consumer)
        consumer.alarms.tell(self.web.unhealthy_alarm)
        cdk.CfnOutput(self, "ProducerEnvironment", value=json.dumps(environment.to_env(), sort_keys=True))
        cdk.CfnOutput(self, "ProducerRoleArn", value=self.role.role_arn)
        cdk.CfnOutput(self, "DatabaseSecretArn", value=store.database_secret.secret_arn)
        cdk.CfnOutput(self, "WebUrl", value=self.web.url)
        cdk.CfnOutput(self, "WebTokenSecretArn", value=self.token_secret.secret_arn)

    def _web(
        self,
        settings: StageSettings,
        environment: ProducerEnv,
        queues: QueueStack,
        store: JobStoreStack,
        consumer: ConsumerStack,
    ) -> WebService:
        web = settings.web
        self.token_secret = self._token(settings)
        return WebService(
            self,
            "Web",
            cluster=consumer.cluster,
            image=consumer.image,
            environment=WebEnv(
                **dataclasses.asdict(environment),
                port=web.port,
                https=bool(web.certificate_arn),
                max_upload_bytes=web.max_upload_bytes,
                max_body_bytes=web.max_body_bytes,
                max_requests=web.max_requests,
                idle_timeout_s=web.idle_timeout_s,
                keepalive_s=web.keepalive_s,
                watch_every_s=web.watch_every_s,
                session_min=web.session_min,
                stop_timeout_s=web.stop_timeout_s,
            ),
            lanes=queues.lanes,
            drawings=store.drawings,
            access_logs=store.access_logs,
            database_secret=store.database_secret,
            token_secret=self.token_secret,
            cpu_units=web.cpu_units,
            memory_mib=web.memory_mib,
            desired_count=web.tasks,
            allowed_cidrs=web.allowed_cidrs,
            internet_facing=web.internet_facing,
            certificate_arn=web.certificate_arn,
            deletion_protection=settings.termination_protection,
            security_groups=store.clients,
        )

    def _token(self, settings: StageSettings) -> secretsmanager.ISecret:
        key = key_for(self, settings)
        if settings.web.token_secret_arn:
            return secretsmanager.Secret.from_secret_attributes(
                self, "WebToken", secret_complete_arn=settings.web.token_secret_arn, encryption_key=key
            )
        token = secretsmanager.Secret(
            self,
            "WebToken",
            encryption_key=key,
            description=f"The {settings.name} stage's web token, under token; a new one ends every session",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                generate_string_key="token",
                secret_string_template=json.dumps({}),
                exclude_punctuation=True,
                password_length=43,
            ),
        )
        acknowledge(token, "SMG4", "a new token ends every session, so a person says when")
        return token
