"""The watchdog over jobs: a task on a schedule, and an alarm when it has not run."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from headway.contract import DatabaseSecret, ReconcilerEnv
from headway_cdk.grants import allow_run, allow_tags_at_run
from headway_cdk.hardened import add_container, task_definition
from headway_cdk.lanes import Lane
from headway_cdk.network import task_subnets
from headway_cdk.runbook import description


class Reconciler(Construct):
    """Runs `python -m headway.reconciler` every ``every_min`` minutes, on the workers' image.

    It counts and sends to ``lanes``, looks at their dead letters without taking one, and reaches the job store as any
    worker does. The alarm goes off when no run has ended for ``silent_min`` minutes.

    Raises:
        ValueError: the alarm would go off between two runs.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        cluster: ecs.ICluster,
        image: ecs.ContainerImage,
        environment: ReconcilerEnv,
        lanes: Mapping[str, Lane],
        database_secret: secretsmanager.ISecret,
        cpu_units: int,
        memory_mib: int,
        every_min: int = 1,
        silent_min: int = 10,
        security_groups: Sequence[ec2.ISecurityGroup] = (),
    ) -> None:
        if silent_min < 2 * every_min:
            raise ValueError(f"silent_min={silent_min}: must be at least twice every_min={every_min}")
        super().__init__(scope, id_)
        self.task_definition = task_definition(self, cpu_units=cpu_units, memory_mib=memory_mib)
        add_container(
            self,
            "Reconciler",
            definition=self.task_definition,
            image=image,
            command=["python", "-m", "headway.reconciler"],
            environment=environment,
            secrets={DatabaseSecret: database_secret},
            stop_timeout_s=30,
            log_prefix="reconciler",
        )
        for lane in lanes.values():
            lane.grant_count(self.task_definition.task_role)
            lane.grant_send(self.task_definition.task_role)
            lane.grant_look(self.task_definition.task_role)
        starter = iam.Role(self, "Starter", assumed_by=iam.ServicePrincipal("events.amazonaws.com"))
        allow_run(starter, cluster, self.task_definition)
        allow_tags_at_run(starter, cluster)
        public = not cluster.vpc.private_subnets
        group = ec2.SecurityGroup(self, "SecurityGroup", vpc=cluster.vpc, description="job reconciler")
        self.schedule = events.Rule(
            self,
            "Schedule",
            schedule=events.Schedule.rate(cdk.Duration.minutes(every_min)),
            targets=[
                targets.EcsTask(
                    cluster=cluster,
                    task_definition=self.task_definition,
                    # Left to itself, EcsTask would let it tag the tasks of any account.
                    role=starter.without_policy_updates(),
                    # A public address is given in subnets that are chosen as public ones, and in no others (EcsTask).
                    subnet_selection=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC)
                    if public
                    else task_subnets(cluster.vpc),
                    assign_public_ip=public,
                    security_groups=[group, *security_groups],
                    propagate_tags=ecs.PropagatedTagSource.TASK_DEFINITION,
                    # The next minute brings another.
                    retry_attempts=0,
                    max_event_age=cdk.Duration.minutes(1),
                )
            ],
        )
        self.silent_alarm = cloudwatch.Metric(
            namespace=environment.metric_namespace,
            metric_name="ReconcilerRuns",
            dimensions_map={"Stage": environment.stage},
            period=cdk.Duration.minutes(silent_min),
            statistic=cloudwatch.Stats.SUM,
        ).create_alarm(
            self,
            "Silent",
            alarm_description=description(
                "no run of the reconciler has ended: abandoned jobs cost money, lost messages stay lost",
                "reconciler-silent",
            ),
            threshold=1,
            comparison_operator=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
            evaluation_periods=1,
            treat_missing_data=cloudwatch.TreatMissingData.BREACHING,
        )
