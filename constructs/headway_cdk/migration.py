"""Migrates the job store in the middle of a deployment: one task that ends before the services that need it roll."""

from collections.abc import Sequence
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

import headway
from headway.contract import DatabaseSecret, MigrationEnv, OwnerSecret
from headway_cdk.grants import allow_run, allow_tasks
from headway_cdk.hardened import add_container, task_definition
from headway_cdk.image import allow_list
from headway_cdk.network import task_subnets

_SOURCES = ("headway/__init__.py", "headway/clock.py", "headway/oneshot")
#: The most that Lambda gives one invocation.
_WITHIN_MIN = 15


class Migration(Construct):
    """Runs `python -m headway.jobs upgrade` whenever the image or anything about the task has changed.

    The task is given the owner's secret, and no service is. Whatever depends on this construct waits for the task's
    end, and is left as it was where it ends badly.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        cluster: ecs.ICluster,
        image: ecs.ContainerImage,
        database_secret: secretsmanager.ISecret,
        owner_secret: secretsmanager.ISecret,
        security_groups: Sequence[ec2.ISecurityGroup] = (),
    ) -> None:
        super().__init__(scope, id_)
        self.task_definition = task_definition(self, cpu_units=256, memory_mib=512)
        add_container(
            self,
            "Upgrade",
            definition=self.task_definition,
            image=image,
            command=["python", "-m", "headway.jobs", "upgrade"],
            environment=MigrationEnv(),
            secrets={DatabaseSecret: database_secret, OwnerSecret: owner_secret},
            stop_timeout_s=120,
            log_prefix="migration",
        )
        group = ec2.SecurityGroup(self, "SecurityGroup", vpc=cluster.vpc, description="job store migration")
        self.function = self._function(cluster)
        self.resource = cdk.CustomResource(
            self,
            "Run",
            service_token=self.function.function_arn,
            resource_type="Custom::HeadwayMigration",
            service_timeout=cdk.Duration.minutes(_WITHIN_MIN),
            properties={
                "Cluster": cluster.cluster_name,
                "TaskDefinition": self.task_definition.task_definition_arn,
                "Subnets": [subnet.subnet_id for subnet in task_subnets(cluster.vpc).subnets or ()],
                "SecurityGroups": [each.security_group_id for each in (group, *security_groups)],
                "AssignPublicIp": "DISABLED" if cluster.vpc.private_subnets else "ENABLED",
            },
        )

    def _function(self, cluster: ecs.ICluster) -> lambda_.Function:
        log_group = logs.LogGroup(self, "FunctionLogs", retention=logs.RetentionDays.THREE_MONTHS)
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log_group.grant_write(role)
        allow_run(role, cluster, self.task_definition)
        allow_tasks(role, cluster, "ecs:DescribeTasks")
        return lambda_.Function(
            self,
            "Function",
            description="Runs the job store's migration and waits for its end",
            runtime=lambda_.Runtime.PYTHON_3_14,
            architecture=lambda_.Architecture.ARM_64,
            handler="headway.oneshot.handler.handle",
            code=lambda_.Code.from_asset(
                str(Path(headway.__file__).resolve().parent.parent),
                exclude=allow_list(*_SOURCES),
                ignore_mode=cdk.IgnoreMode.DOCKER,
            ),
            role=role,
            log_group=log_group,
            timeout=cdk.Duration.minutes(_WITHIN_MIN),
        )
