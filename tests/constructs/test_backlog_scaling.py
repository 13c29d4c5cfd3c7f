"""The scaling construct: explicit alarms and steps, a cap from the quota, and a ladder AWS accepts."""

import dataclasses
from typing import Any

import pytest
from aws_cdk.assertions import Template

from headway.scaling import ScalingPlan, StepsError
from headway_cdk import BacklogScaling, ChangeInCapacity, ExactCapacity
from tests.constructs.parts import PLAN, Parts
from tests.synth import stack

CLASSIC = ChangeInCapacity(out_at=[5, 10, 20], out_add_tasks=[1, 2, 4], in_at=1)


def built(
    *, plan: ScalingPlan = PLAN, policy: ExactCapacity | ChangeInCapacity | None = None, **props: Any
) -> Template:
    """Return a stack whose worker service is scaled."""
    parts = Parts.within(stack())
    BacklogScaling(
        parts.stack,
        "Scaling",
        cluster=parts.cluster,
        service=parts.worker().service,
        plan=plan,
        policy=policy or ExactCapacity(),
        stage="test",
        **props,
    )
    return Template.from_stack(parts.stack)


def alarm(template: Template, name: str) -> dict[str, Any]:
    """Return the properties of the alarm of one direction, Out or In."""
    return next(
        a["Properties"]
        for logical_id, a in template.find_resources("AWS::CloudWatch::Alarm").items()
        if f"Scaling{name}Alarm" in logical_id
    )


def policy(template: Template, name: str) -> dict[str, Any]:
    """Return the policy that alarm ``name`` acts through."""
    (action,) = alarm(template, name)["AlarmActions"]
    resources = template.find_resources("AWS::ApplicationAutoScaling::ScalingPolicy")
    return dict(resources[action["Ref"]]["Properties"])


@pytest.fixture(scope="module")
def exact() -> Template:
    """The default policy at 10 s."""
    return built(policy=ExactCapacity(out_periods=1, in_periods=3), period_s=10)


def test_cap_is_what_the_quota_allows(exact: Template) -> None:
    """60 calls // (4 slots x 2 calls) = 7 tasks; the plan's minimum is the other bound."""
    exact.has_resource_properties(
        "AWS::ApplicationAutoScaling::ScalableTarget",
        {"MinCapacity": 1, "MaxCapacity": 7, "ScalableDimension": "ecs:service:DesiredCount"},
    )


@pytest.mark.parametrize(
    ("name", "metric", "statistic", "periods"),
    [
        ("Out", "ScaleOutTo", "Maximum", 1),
        ("In", "ScaleInTo", "Minimum", 3),
    ],
)
def test_exact_alarms_say_everything(exact: Template, name: str, metric: str, statistic: str, periods: int) -> None:
    """Each alarm fires at one task or more, N of N periods, and a silent publisher never fires it."""
    found = alarm(exact, name)
    assert (found["Namespace"], found["MetricName"]) == ("Headway", metric)
    assert found["Dimensions"] == [{"Name": "Lane", "Value": "heavy"}, {"Name": "Stage", "Value": "test"}]
    assert (found["Threshold"], found["ComparisonOperator"]) == (1, "GreaterThanOrEqualToThreshold")
    assert (found["EvaluationPeriods"], found["DatapointsToAlarm"], found["Period"]) == (periods, periods, 10)
    assert (found["Statistic"], found["TreatMissingData"]) == (statistic, "notBreaching")


@pytest.mark.parametrize("name", ["Out", "In"])
def test_exact_policy_sets_the_published_level_at_once(exact: Template, name: str) -> None:
    """A value of L tasks sets the capacity to L: step L starts at L - threshold, the last is open, cooldown is 0."""
    config = policy(exact, name)["StepScalingPolicyConfiguration"]
    assert (config["AdjustmentType"], config["Cooldown"]) == ("ExactCapacity", 0)
    assert config["StepAdjustments"] == [
        {"MetricIntervalLowerBound": level - 1, "MetricIntervalUpperBound": level, "ScalingAdjustment": level}
        for level in range(1, 7)
    ] + [{"MetricIntervalLowerBound": 6, "ScalingAdjustment": 7}]


def test_a_fleet_may_scale_to_zero() -> None:
    """From a value of a half, which says no task, to under one and a half: each step sets its own capacity."""
    template = built(plan=dataclasses.replace(PLAN, min_tasks=0))
    template.has_resource_properties("AWS::ApplicationAutoScaling::ScalableTarget", {"MinCapacity": 0})
    for name in ("Out", "In"):
        assert alarm(template, name)["Threshold"] == 0.5
        first, second = policy(template, name)["StepScalingPolicyConfiguration"]["StepAdjustments"][:2]
        assert (first["ScalingAdjustment"], first["MetricIntervalUpperBound"]) == (0, 0.5)
        assert (second["ScalingAdjustment"], second["MetricIntervalUpperBound"]) == (1, 1.5)


def test_large_fleets_keep_to_twenty_steps() -> None:
    """Twenty steps are the most a policy takes (Application Auto Scaling quotas); 150 tasks still reach their cap."""
    template = built(plan=dataclasses.replace(PLAN, quota_calls=1_200))
    steps = policy(template, "Out")["StepScalingPolicyConfiguration"]["StepAdjustments"]
    assert len(steps) == 20
    assert steps[-1]["ScalingAdjustment"] == 150


def test_classic_policy_steps_on_backlog_per_task() -> None:
    """The classic steps count from their alarm's threshold: 5 + [0, 5), [5, 15), [15, ...) add 1, 2, 4 tasks."""
    template = built(policy=CLASSIC)
    out, config = alarm(template, "Out"), policy(template, "Out")["StepScalingPolicyConfiguration"]
    assert (out["MetricName"], out["Threshold"]) == ("BacklogPerTask", 5)
    assert (config["AdjustmentType"], config["Cooldown"]) == ("ChangeInCapacity", 60)
    assert config["StepAdjustments"] == [
        {"MetricIntervalLowerBound": 0, "MetricIntervalUpperBound": 5, "ScalingAdjustment": 1},
        {"MetricIntervalLowerBound": 5, "MetricIntervalUpperBound": 15, "ScalingAdjustment": 2},
        {"MetricIntervalLowerBound": 15, "ScalingAdjustment": 4},
    ]


def test_classic_policy_gives_one_task_back_after_five_lows() -> None:
    """At one waiting message a task or fewer, 5 of 5 periods, one task goes."""
    template = built(policy=CLASSIC)
    low, config = alarm(template, "In"), policy(template, "In")["StepScalingPolicyConfiguration"]
    assert (low["Threshold"], low["ComparisonOperator"]) == (1, "LessThanOrEqualToThreshold")
    assert (low["EvaluationPeriods"], low["DatapointsToAlarm"], low["TreatMissingData"]) == (5, 5, "notBreaching")
    assert config["StepAdjustments"] == [{"MetricIntervalUpperBound": 0, "ScalingAdjustment": -1}]


def test_too_many_steps_are_refused() -> None:
    """Twenty-one steps are refused before AWS refuses them."""
    policy = ChangeInCapacity(out_at=list(range(2, 23)), out_add_tasks=[1] * 21, in_at=1)
    with pytest.raises(StepsError, match=r"21 steps; a policy takes 1\.\.20"):
        built(policy=policy)


def test_quota_below_the_minimum_is_refused() -> None:
    """A minimum that the quota cannot feed is a contradiction, named with both numbers."""
    with pytest.raises(ValueError, match="min_tasks=2 > 1 tasks that quota_calls=8 allows"):
        built(plan=dataclasses.replace(PLAN, min_tasks=2, quota_calls=8))


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"out_at": [], "out_add_tasks": []}, "0 out_at, 0 out_add_tasks: as many, and not none"),
        ({"out_at": [5], "out_add_tasks": [1, 2]}, "1 out_at, 2 out_add_tasks: as many, and not none"),
        ({"in_at": 5}, r"in_at=5 >= out_at\[0\]=5: would oscillate"),
    ],
)
def test_contradictory_thresholds_are_refused(numbers: dict[str, Any], message: str) -> None:
    """Thresholds that contradict each other are named with both numbers."""
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(CLASSIC, **numbers)
