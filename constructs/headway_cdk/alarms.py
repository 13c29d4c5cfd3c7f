"""What wakes somebody: each lane's alarms, those of the stage, and the topic they all tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from headway.scaling import metrics
from headway_cdk.lanes import Lane
from headway_cdk.published import lane_metric
from headway_cdk.runbook import description

#: Received and not yet deleted messages that a standard queue can have ("Amazon SQS message quotas").
IN_FLIGHT_LIMIT = 120_000
_IN_FLIGHT_SHARE = 0.8
_AT_LEAST = cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
_MISSING_IS_WELL = cloudwatch.TreatMissingData.NOT_BREACHING


@dataclass(frozen=True, kw_only=True)
class WatchedLane:
    """A lane, the age in seconds that its oldest message may reach, and the slots that are always there for it.

    A message that a worker holds counts by its age as well (SQS metrics: "non-deleted message"), so ``oldest_s`` is
    longer than the lane's work takes.
    """

    lane: Lane
    oldest_s: int
    slots: int


class Alarms(Construct):
    """Tells ``topic``, or one of its own, when a lane or the stage is not well.

    ``lanes`` by name; ``main_lane`` is the one whose workers call the model. ``rate_limited_per_call``: answers 429 by
    model call, from when on calls mostly wait for each other. ``services``: their failed deployments are told too.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        stage: str,
        lanes: Mapping[str, WatchedLane],
        main_lane: str,
        services: Sequence[ecs.IBaseService],
        rate_limited_per_call: float,
        namespace: str = "Headway",
        topic: sns.ITopic | None = None,
    ) -> None:
        super().__init__(scope, id_)
        self._stage, self._namespace = stage, namespace
        self.topic = topic or self._topic()
        self.all: list[cloudwatch.Alarm] = []
        for name, watched in lanes.items():
            self._watch_lane(name, watched)
        self._watch_publisher(main_lane)
        self._watch_calls(main_lane, rate_limited_per_call)
        self._watch_deployments(services)

    def tell(self, *alarms: cloudwatch.Alarm) -> None:
        """Let these alarms tell the topic, too."""
        for alarm in alarms:
            alarm.add_alarm_action(actions.SnsAction(self.topic))
            self.all.append(alarm)

    def _topic(self) -> sns.Topic:
        topic = sns.Topic(self, "Topic", display_name=f"Headway {self._stage}", enforce_ssl=True)
        # A policy of its own takes the place of the default one, which had let this account's alarms publish.
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": cdk.Stack.of(self).account}},
            )
        )
        return topic

    def _watch_lane(self, name: str, watched: WatchedLane) -> None:
        queue, minutes = watched.lane.queue, cdk.Duration.minutes
        self._alarm(
            f"{name.capitalize()}Oldest",
            queue.metric_approximate_age_of_oldest_message(period=minutes(1)),
            f"{name}: the oldest message is older than any work takes",
            "oldest-message",
            threshold=watched.oldest_s,
            periods=5,
        )
        self._alarm(
            f"{name.capitalize()}DeadLetters",
            watched.lane.dead_letters.metric_approximate_number_of_messages_visible(period=minutes(1)),
            f"{name}: a message could not run and waits among the dead letters",
            "dead-letters",
            threshold=1,
        )
        self._alarm(
            f"{name.capitalize()}InFlight",
            queue.metric_approximate_number_of_messages_not_visible(period=minutes(1)),
            f"{name}: at {IN_FLIGHT_LIMIT:,} messages in flight, SQS gives out no more",
            "in-flight-limit",
            threshold=_IN_FLIGHT_SHARE * IN_FLIGHT_LIMIT,
            periods=5,
        )
        # A fleet that is busy receives nothing either; one that holds less than its fewest tasks could is deaf.
        deaf = cloudwatch.MathExpression(
            expression=f"IF(waiting > 0 AND received == 0 AND held < {watched.slots}, 1, 0)",
            using_metrics={
                "waiting": queue.metric_approximate_number_of_messages_visible(statistic=cloudwatch.Stats.MINIMUM),
                "received": queue.metric_number_of_messages_received(),
                "held": queue.metric_approximate_number_of_messages_not_visible(),
            },
            period=minutes(5),
            label=f"{name} is deaf",
        )
        self._alarm(
            f"{name.capitalize()}Deaf",
            deaf,
            f"{name}: messages wait, slots are free, and nothing is received",
            "receiving-nothing",
            threshold=1,
            periods=2,
        )

    def _watch_publisher(self, lane: str) -> None:
        self._alarm(
            "PublisherSilent",
            self._metric(metrics.WAITING.name, lane, cloudwatch.Stats.SAMPLE_COUNT),
            "nothing was published: the fleet keeps its size whatever the backlog",
            "publisher-silent",
            threshold=1,
            comparison=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
            missing=cloudwatch.TreatMissingData.BREACHING,
        )

    def _watch_calls(self, lane: str, rate_limited_per_call: float) -> None:
        limited = cloudwatch.MathExpression(
            expression="IF(calls > 0, limited / calls, 0)",
            using_metrics={
                "limited": self._metric("CallsRateLimited", lane, cloudwatch.Stats.SUM),
                "calls": self._metric("CallLatency", lane, cloudwatch.Stats.SAMPLE_COUNT),
            },
            period=cdk.Duration.minutes(5),
            label="429s by call",
        )
        self._alarm(
            "RateLimited",
            limited,
            "the model answers 429 to many calls: the quota is lower than quota_calls says, or shared",
            "rate-limited",
            threshold=rate_limited_per_call,
            periods=3,
        )
        self._alarm(
            "ProtectionRefused",
            self._metric("ProtectionRefused", lane, cloudwatch.Stats.SUM),
            "tasks are refused protection from scale-in, and start no work without it",
            "protection-refused",
            threshold=1,
            periods=3,
        )

    def _watch_deployments(self, services: Sequence[ecs.IBaseService]) -> None:
        # The circuit breaker rolls back by itself, and this event is all that tells of it ("Amazon ECS service
        # deployment state change events").
        self.deployment_failed = events.Rule(
            self,
            "DeploymentFailed",
            description=description("a deployment failed and was rolled back", "deployment-failed"),
            event_pattern=events.EventPattern(
                source=["aws.ecs"],
                detail_type=["ECS Deployment State Change"],
                resources=[service.service_arn for service in services],
                detail={"eventName": ["SERVICE_DEPLOYMENT_FAILED"]},
            ),
            targets=[targets.SnsTopic(self.topic)],
        )

    def _metric(self, name: str, lane: str, statistic: str) -> cloudwatch.Metric:
        return lane_metric(
            name, namespace=self._namespace, stage=self._stage, lane=lane, statistic=statistic, minutes=5
        )

    def _alarm(
        self,
        id_: str,
        metric: cloudwatch.IMetric,
        text: str,
        anchor: str,
        *,
        threshold: float,
        periods: int = 1,
        comparison: cloudwatch.ComparisonOperator = _AT_LEAST,
        missing: cloudwatch.TreatMissingData = _MISSING_IS_WELL,
    ) -> None:
        alarm = cloudwatch.Alarm(
            self,
            id_,
            metric=metric,
            alarm_description=description(text, anchor),
            threshold=threshold,
            comparison_operator=comparison,
            evaluation_periods=periods,
            treat_missing_data=missing,
        )
        self.tell(alarm)
