"""Reading the model's values from template properties."""

from headway_ops.loop import Adjustment, MetricKey, TreatMissing, template


def test_an_alarm_is_read_with_cloudformations_defaults() -> None:
    """Without DatapointsToAlarm all periods must breach; without TreatMissingData missing data is missing."""
    spec = template.alarm(
        "a",
        {
            "Namespace": "Headway",
            "MetricName": "ScaleOutTo",
            "Dimensions": [{"Name": "Stage", "Value": "dev"}],
            "ComparisonOperator": "GreaterThanOrEqualToThreshold",
            "Threshold": 1,
            "Period": 10,
            "EvaluationPeriods": 3,
        },
    )
    assert spec.metric == MetricKey("Headway", "ScaleOutTo", frozenset({("Stage", "dev")}))
    assert (spec.datapoints_to_alarm, spec.treat_missing, spec.actions) == (3, TreatMissing.MISSING, ())


def test_a_policy_without_a_cooldown_waits_300_seconds() -> None:
    """API reference: 300 s by default for ECS services."""
    steps = [{"MetricIntervalLowerBound": 0, "ScalingAdjustment": 2}]
    policy = template.policy(
        {"StepScalingPolicyConfiguration": {"AdjustmentType": "ExactCapacity", "StepAdjustments": steps}}
    )
    assert policy.cooldown_s == 300
    assert policy.adjustment is Adjustment.EXACT
    assert [(step.lower, step.upper, step.adjustment) for step in policy.steps] == [(0.0, None, 2)]


def test_a_targets_resource_names_its_service() -> None:
    """The scalable target of an ECS service is service/CLUSTER/SERVICE."""
    properties = {"ResourceId": "service/main/heavy", "MinCapacity": 1, "MaxCapacity": 15}
    assert template.service_of(properties) == "main/heavy"
    assert template.target(properties).max_capacity == 15
