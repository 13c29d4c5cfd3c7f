"""What drains the lanes: one service a lane, and the loop that sizes the heavy one."""

import json
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_sns as sns
from constructs import Construct

import headway
from headway.contract import ReconcilerEnv, WorkerEnv
from headway_cdk import (
    Alarms,
    BacklogPublisher,
    BacklogScaling,
    ChangeInCapacity,
    Dashboard,
    ExactCapacity,
    Migration,
    Reconciler,
    WatchedLane,
    WorkerService,
    build_image,
    import_image,
)
from stacks.jobstore import JobStoreStack
from stacks.network import vpc_for
from stacks.queues import QueueStack
from stacks.settings import StageSettings

#: The lane whose fleet follows its backlog; it also takes every message that no other lane is meant for.
SCALED = "heavy"


class ConsumerStack(cdk.Stack):
    """The migration, then a worker service for each lane, publisher and scaling of one, and the watchdog."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        settings: StageSettings,
        stack_name: str,
        vpc: ec2.IVpc | None,
        queues: QueueStack,
        store: JobStoreStack,
    ) -> None:
        super().__init__(scope, id_, stack_name=stack_name)
        self.cluster = self._cluster(settings, vpc_for(self, settings, vpc))
        self.image = self._image(settings)
        self.services = {
            name: WorkerService(
                self,
                name.capitalize(),
                cluster=self.cluster,
                image=self.image,
                environment=self._environment(settings, name, queues, store),
                lane=queues.lanes[name],
                sends_to=[queues.lanes[SCALED]],
                drawings=store.drawings,
                database_secret=store.database_secret,
                model_secret=store.model_secret,
                cpu_units=service.cpu_units,
                memory_mib=service.memory_mib,
                desired_count=None if name == SCALED else service.min_tasks,
                security_groups=store.clients,
            )
            for name, (_lane, service) in settings.consumed_lanes.items()
        }
        self.migration = Migration(
            self,
            "Migration",
            cluster=self.cluster,
            image=self.image,
            database_secret=store.database_secret,
            owner_secret=store.owner_secret,
            security_groups=store.clients,
        )
        for worker in self.services.values():
            worker.service.node.add_dependency(self.migration.resource)
        scaled = self.services[SCALED].service
        self.publisher = BacklogPublisher(
            self,
            "Publisher",
            stage=settings.name,
            cluster=self.cluster,
            service=scaled,
            lanes=queues.lanes,
            plan=settings.plan,
            publish_every_s=settings.scaling.publish_every_s,
        )
        self.scaling = BacklogScaling(
            self,
            "Scaling",
            cluster=self.cluster,
            service=scaled,
            plan=settings.plan,
            policy=_policy(settings),
            stage=settings.name,
            lane=SCALED,
            period_s=settings.scaling.publish_every_s,
        )
        self._reconcile(settings, queues, store)
        self._watch(settings, queues)

    def _watch(self, settings: StageSettings, queues: QueueStack) -> None:
        lanes = {
            name: WatchedLane(
                lane=queues.lanes[name],
                oldest_s=lane.oldest_alarm_s,
                slots=service.concurrency * max(1, service.min_tasks),
            )
            for name, (lane, service) in settings.consumed_lanes.items()
        }
        self.alarms = Alarms(
            self,
            "Alarms",
            stage=settings.name,
            lanes=lanes,
            main_lane=SCALED,
            services=[worker.service for worker in self.services.values()],
            rate_limited_per_call=settings.alarms.rate_limited_per_call,
            topic=sns.Topic.from_topic_arn(self, "AlarmTopic", settings.alarms.topic_arn)
            if settings.alarms.topic_arn
            else None,
        )
        self.alarms.tell(self.reconciler.silent_alarm, *(worker.cpu_alarm for worker in self.services.values()))
        Dashboard(
            self,
            "Dashboard",
            stage=settings.name,
            lanes=lanes,
            main_lane=SCALED,
            cluster=self.cluster,
            service=self.services[SCALED].service,
            quota_calls=settings.model.quota_calls,
            alarms=self.alarms,
        )
        cdk.CfnOutput(self, "AlarmTopicArn", value=self.alarms.topic.topic_arn)

    def _reconcile(self, settings: StageSettings, queues: QueueStack, store: JobStoreStack) -> None:
        numbers = settings.reconciler
        environment = ReconcilerEnv(
            stage=settings.name,
            region=self.region,
            queue_urls=queues.urls,
            dead_letter_urls=queues.dead_letter_urls,
            main_lane=SCALED,
            fast_queue="fast" if settings.fast_lane == "on" else "",
            idle_limit_s=numbers.idle_limit_s,
            lease_s=max(lane.visibility_timeout_s for lane, _service in settings.consumed_lanes.values()),
        )
        self.reconciler = Reconciler(
            self,
            "Reconciler",
            cluster=self.cluster,
            image=self.image,
            environment=environment,
            lanes=queues.lanes,
            database_secret=store.database_secret,
            cpu_units=numbers.cpu_units,
            memory_mib=numbers.memory_mib,
            every_min=numbers.every_min,
            silent_min=numbers.silent_alarm_min,
            security_groups=store.clients,
        )
        self.reconciler.schedule.node.add_dependency(self.migration.resource)
        cdk.CfnOutput(self, "ReconcilerEnvironment", value=json.dumps(environment.to_env(), sort_keys=True))
        cdk.CfnOutput(self, "DatabaseOwnerSecretArn", value=store.owner_secret.secret_arn)

    def _cluster(self, settings: StageSettings, vpc: ec2.IVpc) -> ecs.ICluster:
        if settings.cluster.name:
            return ecs.Cluster.from_cluster_attributes(self, "Cluster", cluster_name=settings.cluster.name, vpc=vpc)
        return ecs.Cluster(self, "Cluster", vpc=vpc, container_insights_v2=ecs.ContainerInsights.ENABLED)

    def _image(self, settings: StageSettings) -> ecs.ContainerImage:
        if settings.image.name:
            return import_image(self, "Image", name=settings.image.name)
        return build_image(Path(headway.__file__).resolve().parent.parent, include=("requirements.txt", "headway"))

    def _environment(self, settings: StageSettings, name: str, queues: QueueStack, store: JobStoreStack) -> WorkerEnv:
        lane, service = settings.consumed_lanes[name]
        return WorkerEnv(
            stage=settings.name,
            region=self.region,
            queue_urls=queues.urls,
            dead_letter_urls=queues.dead_letter_urls,
            main_lane=SCALED,
            drawings_bucket=store.drawings.bucket_name,
            lane=name,
            pool=service.pool,
            concurrency=service.concurrency,
            prefetch=service.prefetch,
            max_inflight=service.max_inflight,
            wait_time_s=lane.wait_time_s,
            polling_interval_s=service.polling_interval_s,
            lazy_below=service.lazy_below,
            lazy_after_s=service.lazy_after_s,
            lazy_poll_s=service.lazy_poll_s,
            publish_every_s=settings.scaling.publish_every_s,
            visibility_timeout_s=lane.visibility_timeout_s,
            lease_beat_s=service.lease_beat_s,
            soft_time_limit_s=service.soft_time_limit_s,
            time_limit_s=service.time_limit_s,
            stop_timeout_s=service.stop_timeout_s,
            protection=service.protection,
            protection_min=service.protection_min,
            model_base_url=settings.model.base_url,
            model_name=settings.model.name,
            model_timeout_s=settings.model.timeout_s,
            quota_calls=settings.model.quota_calls,
            model_input_usd_per_mtok=settings.model.input_usd_per_mtok,
            model_output_usd_per_mtok=settings.model.output_usd_per_mtok,
        )


def _policy(settings: StageSettings) -> ExactCapacity | ChangeInCapacity:
    numbers = settings.scaling
    if numbers.policy == "exact":
        return ExactCapacity(out_periods=numbers.out_periods, in_periods=numbers.in_periods)
    return ChangeInCapacity(
        out_at=numbers.classic.out_at_backlog_per_task,
        out_add_tasks=numbers.classic.out_add_tasks,
        in_at=numbers.classic.in_at_backlog_per_task,
        out_periods=numbers.out_periods,
        in_periods=numbers.classic.in_periods,
        cooldown_s=numbers.classic.cooldown_s,
    )
