"""One lane's workers: a hardened Fargate service whose environment is `headway.contract.WorkerEnv` and nothing else."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from headway.contract import BLOCKS_PREFIX, DRAWINGS_PREFIX, DatabaseSecret, ModelSecret, WorkerEnv
from headway_cdk.grants import allow_objects, allow_tasks
from headway_cdk.hardened import add_container, task_definition
from headway_cdk.lanes import Lane
from headway_cdk.network import task_subnets
from headway_cdk.runbook import description


class WorkerService(Construct):
    """The Fargate service that consumes one lane.

    ``environment``: everything the worker is told in plain text. ``sends_to``: lanes its tasks dispatch to.
    ``database_secret`` holds the keys of `headway.contract.DatabaseSecret`, ``model_secret`` those of `ModelSecret`;
    ECS injects them by key. ``cpu_units`` and ``memory_mib`` are a pair that Fargate offers. ``desired_count``: tasks
    of a fixed fleet; leave it out for a scaled one, or every deployment would reset it.

    Raises:
        ValueError: the environment does not fit the lane.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        cluster: ecs.ICluster,
        image: ecs.ContainerImage,
        environment: WorkerEnv,
        lane: Lane,
        sends_to: Sequence[Lane],
        drawings: s3.IBucket,
        database_secret: secretsmanager.ISecret,
        model_secret: secretsmanager.ISecret,
        cpu_units: int,
        memory_mib: int,
        desired_count: int | None = None,
        security_groups: Sequence[ec2.ISecurityGroup] = (),
    ) -> None:
        _check(environment, lane)
        super().__init__(scope, id_)
        self.task_definition = task_definition(self, cpu_units=cpu_units, memory_mib=memory_mib)
        add_container(
            self,
            "Worker",
            definition=self.task_definition,
            image=image,
            command=["python", "-m", "headway.worker"],
            environment=environment,
            secrets={DatabaseSecret: database_secret, ModelSecret: model_secret},
            stop_timeout_s=environment.stop_timeout_s,
            log_prefix=environment.lane,
            health_check=_consuming(),
        )
        self._grants(environment, cluster, lane, sends_to, drawings)
        public = not cluster.vpc.private_subnets
        own_group = ec2.SecurityGroup(self, "SecurityGroup", vpc=cluster.vpc, description=f"{environment.lane} workers")
        self.service = ecs.FargateService(
            self,
            "Service",
            cluster=cluster,
            task_definition=self.task_definition,
            # Without a desired count CloudFormation creates one task and never touches the count again, so a
            # deployment keeps what scaling decided (aws-cdk #13130, containers-roadmap's CFN change of 2020-11).
            desired_count=desired_count,
            # Old tasks stay while new ones start, so a deployment never lowers the lane's capacity.
            min_healthy_percent=100,
            max_healthy_percent=200,
            circuit_breaker=ecs.DeploymentCircuitBreaker(rollback=True),
            # On by default for a new service (ECS CreateService): it stops running tasks to even out zones, and what
            # a worker holds is worth more than evenness.
            availability_zone_rebalancing=ecs.AvailabilityZoneRebalancing.DISABLED,
            enable_execute_command=False,
            assign_public_ip=public,
            vpc_subnets=task_subnets(cluster.vpc),
            security_groups=[own_group, *security_groups],
            propagate_tags=ecs.PropagatedTagSource.SERVICE,
        )
        # A guardrail, never a scaling signal: these workers wait for a model, and wait just as idly when overloaded.
        self.cpu_alarm = self.service.metric_cpu_utilization(period=cdk.Duration.minutes(1)).create_alarm(
            self,
            "CpuHigh",
            alarm_description=description(f"{environment.lane} workers are short of CPU", "cpu-high"),
            threshold=90,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            evaluation_periods=15,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )

    def _grants(
        self,
        environment: WorkerEnv,
        cluster: ecs.ICluster,
        lane: Lane,
        sends_to: Sequence[Lane],
        drawings: s3.IBucket,
    ) -> None:
        role = self.task_definition.task_role
        lane.grant_consume(role)
        lane.grant_bury(role)
        for other in sends_to:
            other.grant_send(role)
        allow_objects(role, "s3:GetObject", drawings, DRAWINGS_PREFIX, BLOCKS_PREFIX)
        allow_objects(role, "s3:PutObject", drawings, BLOCKS_PREFIX)
        if environment.protection:
            allow_tasks(role, cluster, "ecs:UpdateTaskProtection", "ecs:GetTaskProtection")


def _consuming() -> ecs.HealthCheck:
    """Return the check that the lane has answered of late, or every slot is busy: consuming, not only alive.

    Its command is as patient as the worker's own watchdog, because ECS stops a task that fails it, protected or not.
    """
    return ecs.HealthCheck(
        command=["CMD", "python", "-m", "headway.worker.liveness"],
        interval=cdk.Duration.seconds(30),
        timeout=cdk.Duration.seconds(10),
        retries=3,
        start_period=cdk.Duration.seconds(120),
    )


def _check(environment: WorkerEnv, lane: Lane) -> None:
    for name in ("visibility_timeout_s", "wait_time_s"):
        told, real = getattr(environment, name), getattr(lane, name)
        if told != real:
            raise ValueError(f"{name}: the worker is told {told}, its queue has {real}; they must match")
    for name in ("queue_urls", "dead_letter_urls"):
        if environment.lane not in getattr(environment, name):
            raise ValueError(f"lane {environment.lane!r} is not in {name}")
    if environment.prefetch != 1:
        raise ValueError(f"prefetch={environment.prefetch}: must be 1, waiting messages age against their visibility")
