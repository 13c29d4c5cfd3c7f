"""How a fleet follows its backlog: two alarms on published metrics, each with one step-scaling policy.

The policies and alarms are written out in full, because CDK's ``scale_on_metric`` leaves the cooldown to its default
(300 s for ECS) and the missing-data rule to CloudWatch's, and shares one number of periods between both directions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_applicationautoscaling as scaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from constructs import Construct

from headway.scaling import ScalingPlan, Step, check_steps, metrics
from headway.scaling.classic import change_in_capacity_steps

_AT_LEAST = cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
_AT_MOST = cloudwatch.ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD


@dataclass(frozen=True, kw_only=True)
class ExactCapacity:
    """Capacity is set to the published need. Periods are consecutive breaches; cooldowns are zero.

    A published need already counts what is running and protected, so there is no overshoot to wait out, and a
    policy that names a capacity does not depend on the one it starts from.
    """

    out_periods: int = 1
    in_periods: int = 2


@dataclass(frozen=True, kw_only=True)
class ChangeInCapacity:
    """The classic policy: capacity changes by steps on waiting messages by running task; the cooldown is in seconds.

    From ``out_at[i]`` on, ``out_add_tasks[i]`` tasks are added; at ``in_at`` or less, one goes.

    Raises:
        ValueError: the thresholds contradict each other.
    """

    out_at: Sequence[float]
    out_add_tasks: Sequence[int]
    in_at: float
    out_periods: int = 1
    in_periods: int = 5
    cooldown_s: int = 60

    def __post_init__(self) -> None:
        if not 0 < len(self.out_at) == len(self.out_add_tasks):
            raise ValueError(
                f"{len(self.out_at)} out_at, {len(self.out_add_tasks)} out_add_tasks: as many, and not none"
            )
        if self.in_at >= self.out_at[0]:
            raise ValueError(f"in_at={self.in_at} >= out_at[0]={self.out_at[0]}: would oscillate")


@dataclass(frozen=True, kw_only=True)
class _Direction:
    """One alarm and the steps it takes. ``statistic`` says which of several values in one period counts."""

    name: str
    metric: metrics.Metric
    statistic: str
    comparison: cloudwatch.ComparisonOperator
    threshold: float
    periods: int
    adjustment: scaling.AdjustmentType
    cooldown_s: int
    steps: Sequence[Step]


class BacklogScaling(Construct):
    """Scales ``service`` between ``plan.min_tasks`` and ``plan.cap`` by the metrics of ``stage`` and ``lane``.

    ``period_s`` is the publisher's interval: 10 on high-resolution metrics, or 60. ``policy`` chooses how.

    Raises:
        StepsError: a policy has more steps than AWS takes, or leaves a value without an answer.
        ValueError: the quota leaves no room for ``plan.min_tasks``.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        cluster: ecs.ICluster,
        service: ecs.IBaseService,
        plan: ScalingPlan,
        policy: ExactCapacity | ChangeInCapacity,
        stage: str,
        lane: str = "heavy",
        period_s: int = 60,
        namespace: str = "Headway",
    ) -> None:
        if plan.min_tasks > plan.cap:
            raise ValueError(
                f"min_tasks={plan.min_tasks} > {plan.cap} tasks that quota_calls={plan.quota_calls} allows"
            )
        directions = _exact(plan, policy) if isinstance(policy, ExactCapacity) else _classic(policy)
        for direction in directions:
            check_steps(direction.steps)
        super().__init__(scope, id_)
        self._identity = metrics.dimensions(stage=stage, lane=lane)
        self._namespace = namespace
        self._period = cdk.Duration.seconds(period_s)
        self.target = scaling.ScalableTarget(
            self,
            "Target",
            service_namespace=scaling.ServiceNamespace.ECS,
            resource_id=f"service/{cluster.cluster_name}/{service.service_name}",
            scalable_dimension="ecs:service:DesiredCount",
            min_capacity=plan.min_tasks,
            max_capacity=plan.cap,
            role=self._service_linked_role(),
        )
        self.alarms = [self._direction(direction) for direction in directions]

    def _service_linked_role(self) -> iam.IRole:
        """Return the role Application Auto Scaling makes for itself, so that no second one is created."""
        arn = cdk.Stack.of(self).format_arn(
            service="iam",
            region="",
            resource="role/aws-service-role/ecs.application-autoscaling.amazonaws.com",
            resource_name="AWSServiceRoleForApplicationAutoScaling_ECSService",
        )
        return iam.Role.from_role_arn(self, "Role", arn, mutable=False)

    def _direction(self, direction: _Direction) -> cloudwatch.Alarm:
        action = scaling.StepScalingAction(
            self,
            direction.name,
            scaling_target=self.target,
            adjustment_type=direction.adjustment,
            cooldown=cdk.Duration.seconds(direction.cooldown_s),
            metric_aggregation_type=scaling.MetricAggregationType[direction.statistic.upper()],
        )
        for step in direction.steps:
            action.add_adjustment(adjustment=step.adjustment, lower_bound=step.lower, upper_bound=step.upper)
        metric = cloudwatch.Metric(
            namespace=self._namespace,
            metric_name=direction.metric.name,
            dimensions_map=self._identity,
            statistic=direction.statistic,
            period=self._period,
        )
        alarm = metric.create_alarm(
            self,
            f"{direction.name}Alarm",
            alarm_description=f"{direction.name}: the backlog asks for another number of tasks",
            threshold=direction.threshold,
            comparison_operator=direction.comparison,
            evaluation_periods=direction.periods,
            datapoints_to_alarm=direction.periods,
            # A publisher that is silent asks for nothing: neither more tasks nor, above all, fewer.
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(actions.ApplicationScalingAction(action))
        return alarm


def _exact(plan: ScalingPlan, policy: ExactCapacity) -> tuple[_Direction, _Direction]:
    def direction(name: str, metric: metrics.Metric, statistic: str, periods: int) -> _Direction:
        return _Direction(
            name=name,
            metric=metric,
            statistic=statistic,
            comparison=_AT_LEAST,
            threshold=plan.threshold,
            periods=periods,
            adjustment=scaling.AdjustmentType.EXACT_CAPACITY,
            cooldown_s=0,
            steps=plan.steps,
        )

    # Of two readings in one period, out takes the higher need, and in lets a "nothing to do" (0) veto the other.
    return (
        direction("Out", metrics.SCALE_OUT_TO, cloudwatch.Stats.MAXIMUM, policy.out_periods),
        direction("In", metrics.SCALE_IN_TO, cloudwatch.Stats.MINIMUM, policy.in_periods),
    )


def _classic(policy: ChangeInCapacity) -> tuple[_Direction, _Direction]:
    def direction(
        name: str, comparison: cloudwatch.ComparisonOperator, threshold: float, periods: int, steps: Sequence[Step]
    ) -> _Direction:
        return _Direction(
            name=name,
            metric=metrics.BACKLOG_PER_TASK,
            statistic=cloudwatch.Stats.MAXIMUM,
            comparison=comparison,
            threshold=threshold,
            periods=periods,
            adjustment=scaling.AdjustmentType.CHANGE_IN_CAPACITY,
            cooldown_s=policy.cooldown_s,
            steps=steps,
        )

    rising = change_in_capacity_steps(policy.out_at, policy.out_add_tasks)
    return (
        direction("Out", _AT_LEAST, policy.out_at[0], policy.out_periods, rising),
        direction("In", _AT_MOST, policy.in_at, policy.in_periods, [Step(lower=None, upper=0, adjustment=-1)]),
    )
