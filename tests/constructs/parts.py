"""The parts that worker, publisher and scaling constructs are given in these tests."""

from dataclasses import dataclass
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager

from headway.contract import WorkerEnv
from headway.scaling import ScalingPlan
from headway_cdk import Lane, WorkerService, create_vpc

PLAN = ScalingPlan(
    concurrency=4,
    max_inflight=2,
    quota_calls=60,
    min_tasks=1,
    calls_per_job=5.6,
    spare_slots=4,
    burst_beta=2,
)


@dataclass
class Parts:
    """A cluster in a VPC of its own and one heavy lane, in ``stack``."""

    stack: cdk.Stack
    cluster: ecs.Cluster
    lane: Lane

    @classmethod
    def within(cls, stack: cdk.Stack, *, nat_gateways: int = 1) -> "Parts":
        """Build the parts in ``stack``."""
        vpc: ec2.IVpc = create_vpc(stack, "Vpc", max_azs=2, nat_gateways=nat_gateways)
        return cls(
            stack=stack,
            cluster=ecs.Cluster(stack, "Cluster", vpc=vpc),
            lane=Lane(stack, "Heavy", visibility_timeout_s=120, wait_time_s=20),
        )

    def environment(self, **changes: Any) -> WorkerEnv:
        """Return an environment that fits the lane."""
        values: dict[str, Any] = {
            "stage": "test",
            "region": "eu-west-1",
            "queue_urls": {"heavy": self.lane.queue.queue_url},
            "dead_letter_urls": {"heavy": self.lane.dead_letters.queue_url},
            "drawings_bucket": "drawings",
            "lane": "heavy",
            "concurrency": 4,
            "wait_time_s": 20,
            "visibility_timeout_s": 120,
            "lease_beat_s": 40,
            "soft_time_limit_s": 2_400,
            "time_limit_s": 2_460,
            "protection": True,
            "protection_min": 30,
            "model_base_url": "https://model.example/v1",
            "model_name": "vision",
            "model_timeout_s": 2_100,
            "quota_calls": 24,
            "model_input_usd_per_mtok": 0.25,
            "model_output_usd_per_mtok": 2.0,
        }
        return WorkerEnv(**{**values, **changes})

    def worker(self, *, environment: WorkerEnv | None = None, **props: Any) -> WorkerService:
        """Build a worker service over the parts."""
        arn = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:"
        values: dict[str, Any] = {
            "cluster": self.cluster,
            "image": ecs.ContainerImage.from_registry("worker@sha256:" + "0" * 64),
            "environment": environment or self.environment(),
            "lane": self.lane,
            "sends_to": [self.lane],
            "drawings": s3.Bucket.from_bucket_name(self.stack, "Drawings", "drawings"),
            "database_secret": secretsmanager.Secret.from_secret_complete_arn(self.stack, "Db", f"{arn}db-abcdef"),
            "model_secret": secretsmanager.Secret.from_secret_complete_arn(self.stack, "Model", f"{arn}model-abcdef"),
            "cpu_units": 1_024,
            "memory_mib": 4_096,
        }
        return WorkerService(self.stack, "Worker", **{**values, **props})
