"""The gauge: a small function that publishes, every minute or every ten seconds, how many tasks the backlog needs."""

from collections.abc import Mapping
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

import headway
from headway.contract import PublisherEnv
from headway.scaling import ScalingPlan
from headway_cdk.grants import allow, allow_tasks, allow_unbound, in_cluster
from headway_cdk.image import allow_list
from headway_cdk.lanes import Lane

#: What the function is made of: the contract and the math it shares with the stacks, and itself. Boto3 is Lambda's own.
_SOURCES = ("headway/__init__.py", "headway/contract", "headway/scaling", "headway/publisher")


class BacklogPublisher(Construct):
    """A function on a one-minute schedule that counts ``lanes`` and tasks, and publishes what ``plan`` decides.

    ``service`` is the scaled service; ``lanes`` map lane names to lanes. ``publish_every_s``: 60, or 10 for six beats
    inside each invocation (EventBridge's finest rate is a minute). ``namespace`` and ``stage`` name the metrics.

    Raises:
        ValueError: ``publish_every_s`` does not divide a minute.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        stage: str,
        cluster: ecs.ICluster,
        service: ecs.IBaseService,
        lanes: Mapping[str, Lane],
        plan: ScalingPlan,
        publish_every_s: int = 60,
        namespace: str = "Headway",
    ) -> None:
        if publish_every_s < 1 or 60 % publish_every_s:
            raise ValueError(f"publish_every_s={publish_every_s}: must divide 60")
        super().__init__(scope, id_)
        environment = PublisherEnv(
            stage=stage,
            region=cdk.Stack.of(self).region,
            queue_urls={name: lane.queue.queue_url for name, lane in lanes.items()},
            metric_namespace=namespace,
            cluster=cluster.cluster_name,
            service=service.service_name,
            plan=plan.to_mapping(),
            publish_every_s=publish_every_s,
        )
        self.log_group = logs.LogGroup(self, "Logs", retention=logs.RetentionDays.THREE_MONTHS)
        self.role = self._role(cluster, service, lanes, namespace)
        self.function = lambda_.Function(
            self,
            "Function",
            description=f"Publishes how many tasks the {stage} backlog needs",
            runtime=lambda_.Runtime.PYTHON_3_14,
            architecture=lambda_.Architecture.ARM_64,
            handler="headway.publisher.handler.handle",
            code=lambda_.Code.from_asset(
                str(Path(headway.__file__).resolve().parent.parent),
                exclude=allow_list(*_SOURCES),
                ignore_mode=cdk.IgnoreMode.DOCKER,
            ),
            environment=environment.to_env(),
            role=self.role,
            log_group=self.log_group,
            memory_size=256,
            # Its last beat begins two seconds before the minute ends. One at a time: two never publish side by side.
            timeout=cdk.Duration.seconds(62),
            reserved_concurrent_executions=1,
            # A late reading is a wrong reading: the next minute brings a new one.
            retry_attempts=0,
            max_event_age=cdk.Duration.seconds(60),
        )
        self.schedule = events.Rule(
            self,
            "Schedule",
            # At the start of each minute, where a rate would count its minutes from when the rule was made: the beats
            # keep to the alarms' periods, which are the clock's (headway.scaling.turns).
            schedule=events.Schedule.cron(minute="*"),
            targets=[targets.LambdaFunction(self.function, retry_attempts=0, max_event_age=cdk.Duration.seconds(60))],
        )

    def _role(
        self, cluster: ecs.ICluster, service: ecs.IBaseService, lanes: Mapping[str, Lane], namespace: str
    ) -> iam.Role:
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        self.log_group.grant_write(role)
        for lane in lanes.values():
            lane.grant_count(role)
        allow(role, "ecs:DescribeServices", service.service_arn)
        allow_tasks(role, cluster, "ecs:GetTaskProtection")
        allow_unbound(role, "ecs:ListTasks", where=in_cluster(cluster))
        allow_unbound(role, "cloudwatch:PutMetricData", where={"StringEquals": {"cloudwatch:namespace": namespace}})
        return role
