"""A stage at a glance: does the queue keep up, and is it the model that holds it back?"""

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ecs as ecs
from constructs import Construct

from headway.scaling import metrics
from headway_cdk.alarms import Alarms, WatchedLane
from headway_cdk.published import lane_metric

_MAXIMUM, _SUM = cloudwatch.Stats.MAXIMUM, cloudwatch.Stats.SUM


class Dashboard(Construct):
    """One CloudWatch dashboard: alarms first, then messages and tasks, then calls and what they cost.

    ``lanes`` by name; ``service`` consumes ``main_lane``, whose workers call the model, ``quota_calls`` at a time.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        stage: str,
        lanes: Mapping[str, WatchedLane],
        main_lane: str,
        cluster: ecs.ICluster,
        service: ecs.IBaseService,
        quota_calls: int,
        alarms: Alarms,
        namespace: str = "Headway",
    ) -> None:
        super().__init__(scope, id_)
        self._stage, self._namespace, self._main = stage, namespace, main_lane
        quota = cloudwatch.HorizontalAnnotation(value=quota_calls, label="quota")
        cloudwatch.Dashboard(
            self,
            "Dashboard",
            default_interval=cdk.Duration.hours(12),
            period_override=cloudwatch.PeriodOverride.INHERIT,
            widgets=[
                [cloudwatch.AlarmStatusWidget(title=f"Headway {stage}", alarms=alarms.all, width=24)],
                [
                    _graph("Messages", *self._messages(lanes)),
                    _graph("Oldest message, seconds", *_oldest(lanes)),
                    _graph("Tasks", *self._tasks(cluster, service)),
                ],
                [
                    _graph("Calls in flight", self._of_calls("CallsInFlightAtStart", _MAXIMUM, "calls"), level=quota),
                    _graph("A call's seconds", *(self._of_calls("CallLatency", each, each) for each in ("p50", "p95"))),
                    _graph("429s", self._of_calls("CallsRateLimited", _SUM, "429s")),
                ],
                [
                    _graph("Spent on calls, dollars", self._of_calls("CallCostUsd", _SUM, "dollars")),
                    _graph("Dead letters", *_dead_letters(lanes)),
                    _graph("Jobs nobody wants", *self._reconciled()),
                ],
            ],
        )

    def _messages(self, lanes: Mapping[str, WatchedLane]) -> list[cloudwatch.IMetric]:
        words = ((metrics.WAITING, "waiting"), (metrics.IN_FLIGHT, "in flight"))
        return [self._metric(metric.name, lane, _MAXIMUM, f"{lane} {word}") for lane in lanes for metric, word in words]

    def _tasks(self, cluster: ecs.ICluster, service: ecs.IBaseService) -> list[cloudwatch.IMetric]:
        insights = [
            cloudwatch.Metric(
                namespace="ECS/ContainerInsights",
                metric_name=name,
                dimensions_map={"ClusterName": cluster.cluster_name, "ServiceName": service.service_name},
                statistic=_MAXIMUM,
                period=cdk.Duration.minutes(1),
                label=label,
            )
            for name, label in (("DesiredTaskCount", "desired"), ("RunningTaskCount", "running"))
        ]
        return [self._metric(metrics.NEED.name, self._main, _MAXIMUM, "needed"), *insights]

    def _of_calls(self, name: str, statistic: str, label: str) -> cloudwatch.IMetric:
        return self._metric(name, self._main, statistic, label, minutes=5)

    def _reconciled(self) -> list[cloudwatch.IMetric]:
        names = {"JobsSwept": "canceled", "MessagesRequeued": "sent again", "StepsBuried": "failed"}
        return [
            cloudwatch.Metric(
                namespace=self._namespace,
                metric_name=name,
                dimensions_map={"Stage": self._stage},
                statistic=_SUM,
                period=cdk.Duration.minutes(5),
                label=label,
            )
            for name, label in names.items()
        ]

    def _metric(self, name: str, lane: str, statistic: str, label: str, *, minutes: int = 1) -> cloudwatch.IMetric:
        return lane_metric(
            name,
            namespace=self._namespace,
            stage=self._stage,
            lane=lane,
            statistic=statistic,
            minutes=minutes,
            label=label,
        )


def _graph(
    title: str, *shown: cloudwatch.IMetric, level: cloudwatch.HorizontalAnnotation | None = None
) -> cloudwatch.IWidget:
    return cloudwatch.GraphWidget(
        title=title,
        left=list(shown),
        left_annotations=[level] if level else None,
        left_y_axis=cloudwatch.YAxisProps(min=0, show_units=False),
        width=8,
    )


def _oldest(lanes: Mapping[str, WatchedLane]) -> list[cloudwatch.IMetric]:
    return [
        watched.lane.queue.metric_approximate_age_of_oldest_message(label=name, period=cdk.Duration.minutes(1))
        for name, watched in lanes.items()
    ]


def _dead_letters(lanes: Mapping[str, WatchedLane]) -> list[cloudwatch.IMetric]:
    return [
        watched.lane.dead_letters.metric_approximate_number_of_messages_visible(
            label=name, period=cdk.Duration.minutes(1)
        )
        for name, watched in lanes.items()
    ]
