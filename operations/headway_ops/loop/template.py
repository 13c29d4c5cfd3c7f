"""What do a synthesized template's resources mean to the control loop?

Each function takes one resource's Properties, references resolved, and returns the model's value. Defaults are
CloudFormation's own.
"""

from collections.abc import Mapping
from typing import Any

from headway_ops.loop.alarms import AlarmSpec, MetricKey, TreatMissing
from headway_ops.loop.policy import Adjustment, StepPolicy, Target, steps_from

ALARM = "AWS::CloudWatch::Alarm"
POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy"
TARGET = "AWS::ApplicationAutoScaling::ScalableTarget"


def alarm(name: str, properties: Mapping[str, Any]) -> AlarmSpec:
    """Return the alarm of an AWS::CloudWatch::Alarm on one metric."""
    periods = int(properties["EvaluationPeriods"])
    return AlarmSpec(
        name=name,
        metric=MetricKey(
            namespace=properties["Namespace"],
            name=properties["MetricName"],
            dimensions=frozenset((d["Name"], d["Value"]) for d in properties.get("Dimensions", ())),
        ),
        comparison=properties["ComparisonOperator"],
        threshold=float(properties["Threshold"]),
        period_s=int(properties["Period"]),
        evaluation_periods=periods,
        datapoints_to_alarm=int(properties.get("DatapointsToAlarm", periods)),
        treat_missing=TreatMissing(properties.get("TreatMissingData", "missing")),
        statistic=properties.get("Statistic", "Average"),
        actions=tuple(properties.get("AlarmActions", ())),
    )


def policy(properties: Mapping[str, Any]) -> StepPolicy:
    """Return the policy of an AWS::ApplicationAutoScaling::ScalingPolicy of type StepScaling."""
    step = properties["StepScalingPolicyConfiguration"]
    return StepPolicy(
        adjustment=Adjustment(step["AdjustmentType"]),
        steps=steps_from(step["StepAdjustments"]),
        cooldown_s=float(step.get("Cooldown", 300)),
        min_magnitude=int(step.get("MinAdjustmentMagnitude", 0)),
    )


def target(properties: Mapping[str, Any]) -> Target:
    """Return the bounds of an AWS::ApplicationAutoScaling::ScalableTarget."""
    return Target(min_capacity=int(properties["MinCapacity"]), max_capacity=int(properties["MaxCapacity"]))


def service_of(properties: Mapping[str, Any]) -> str:
    """Return the ``cluster/service`` a scalable target's ResourceId names."""
    return str(properties["ResourceId"]).removeprefix("service/")
