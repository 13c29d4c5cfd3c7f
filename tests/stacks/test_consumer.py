"""The consumer stack: a cap from the quota, services by lane, and imports where the settings name them."""

import dataclasses
import json

import pytest

from stacks.loading import load_stage
from tests.synth import Properties, Synthesized, as_list, stage, statements, synthesize, text, varied


def scaling_alarms(built: Synthesized) -> list[Properties]:
    """Return the alarms that invoke a scaling policy."""
    policies = [{"Ref": name} for name in built.of("consumer", "AWS::ApplicationAutoScaling::ScalingPolicy")]
    alarms = built.of("consumer", "AWS::CloudWatch::Alarm").values()
    return [alarm for alarm in alarms if any(action in policies for action in alarm["AlarmActions"])]


@pytest.mark.parametrize(("name", "cap"), [("dev", 4), ("staging", 7), ("prod", 15), ("local", 6)])
def test_cap_is_computed_from_the_quota(name: str, cap: int) -> None:
    """Quota // (concurrency x max_inflight): 60 // 8 = 7, 120 // 8 = 15, 24 // 4 = 6; dev's max_tasks 4 < 40 // 8."""
    built = stage(name) if name != "staging" else synthesize(load_stage(name))
    (target,) = built.of("consumer", "AWS::ApplicationAutoScaling::ScalableTarget").values()
    assert (target["MinCapacity"], target["MaxCapacity"]) == (1, cap)


@pytest.mark.parametrize("name", ["dev", "prod", "local"])
def test_no_policy_has_more_than_twenty_steps(name: str) -> None:
    """Application Auto Scaling takes at most 20 step adjustments a policy."""
    policies = stage(name).of("consumer", "AWS::ApplicationAutoScaling::ScalingPolicy").values()
    counts = [len(p["StepScalingPolicyConfiguration"]["StepAdjustments"]) for p in policies]
    assert len(counts) == 2
    assert max(counts) <= 20


@pytest.mark.parametrize(("name", "period", "lows"), [("dev", 60, 2), ("prod", 10, 3)])
def test_alarms_follow_the_publishers_interval(name: str, period: int, lows: int) -> None:
    """A period is one beat; scale-in needs several lows, because counts may be stale for a minute."""
    scaling = {a["MetricName"]: a for a in scaling_alarms(stage(name))}
    assert {a["Period"] for a in scaling.values()} == {period}
    assert scaling["ScaleOutTo"]["EvaluationPeriods"] == 1
    assert scaling["ScaleInTo"]["EvaluationPeriods"] == lows


def test_only_published_need_scales() -> None:
    """Every alarm that invokes a policy is on a metric of ours; CPU's tells people."""
    assert sorted(a["MetricName"] for a in scaling_alarms(stage("prod"))) == ["ScaleInTo", "ScaleOutTo"]


def test_heavy_is_scaled_and_fast_is_fixed() -> None:
    """The heavy service leaves its count to scaling; the fast one has prod's two tasks."""
    services = stage("prod").of("consumer", "AWS::ECS::Service")
    counts = {name[:5].rstrip("S"): service.get("DesiredCount") for name, service in services.items()}
    assert counts == {"Heavy": None, "Fast": 2}


def test_classic_policy_is_one_setting_away() -> None:
    """scaling.policy = "classic" puts the alarms on BacklogPerTask."""
    classic = synthesize(varied(load_stage("dev"), scaling__policy="classic"))
    assert {a["MetricName"] for a in scaling_alarms(classic)} == {"BacklogPerTask"}


@pytest.fixture(scope="module")
def imported() -> Synthesized:
    """The dev stage in a team's own VPC, cluster and registry."""
    settings = varied(
        load_stage("dev"),
        network__vpc_id="vpc-1",
        network__availability_zones=["eu-west-1a", "eu-west-1b"],
        network__private_subnet_ids=["subnet-1", "subnet-2"],
        cluster__name="shared",
        image__name="ghcr.io/team/worker@sha256:" + "a" * 64,
    )
    return synthesize(settings)


def test_imported_parts_are_not_created(imported: Synthesized) -> None:
    """No network stack, no cluster and no image asset: what the settings name is used."""
    assert "network" not in imported.templates
    assert not imported.of("consumer", "AWS::ECS::Cluster")
    services = imported.of("consumer", "AWS::ECS::Service").values()
    assert {service["Cluster"] for service in services} == {"shared"}
    subnets = [s["NetworkConfiguration"]["AwsvpcConfiguration"]["Subnets"] for s in services]
    assert subnets == [["subnet-1", "subnet-2"]] * 2
    images = imported.of("consumer", "AWS::ECS::TaskDefinition").values()
    assert {d["ContainerDefinitions"][0]["Image"] for d in images} == {"ghcr.io/team/worker@sha256:" + "a" * 64}


def test_imported_cluster_bounds_protection_too(imported: Synthesized) -> None:
    """The condition names the imported cluster's ARN."""
    conditions = [
        text(s["Condition"]["ArnEquals"]["ecs:cluster"])
        for _, s in statements(imported.templates["consumer"])
        if "ecs:UpdateTaskProtection" in as_list(s["Action"])
    ]
    assert [arn.endswith(":cluster/shared") for arn in conditions] == [True]


def test_plan_in_the_function_is_the_plan_of_the_alarms() -> None:
    """The publisher decides with the same numbers that the steps were made from."""
    functions = stage("prod").of("consumer", "AWS::Lambda::Function")
    (function,) = (each for name, each in functions.items() if name.startswith("Publisher"))
    told = json.loads(text(function["Environment"]["Variables"]["HEADWAY_PLAN"]))
    assert told == dataclasses.asdict(load_stage("prod").plan)


@pytest.mark.parametrize("name", ["dev", "prod", "local"])
def test_nothing_that_uses_jobs_starts_before_the_migration_has_ended(name: str) -> None:
    """Every worker service and the reconciler's schedule depend on the migration's run."""
    resources = stage(name).templates["consumer"]["Resources"]
    (run,) = (key for key, each in resources.items() if each["Type"] == "Custom::HeadwayMigration")
    waiting = [each for each in resources.values() if each["Type"] == "AWS::ECS::Service"]
    waiting += [each for key, each in resources.items() if key.startswith("ReconcilerSchedule")]
    assert len(waiting) == 3
    assert all(run in each["DependsOn"] for each in waiting)


def test_only_the_migration_is_given_the_owners_secret() -> None:
    """Workers, reconciler and web service reach the job store as a login that may not update its tables."""
    built = stage("prod")
    holders = {
        name.partition("Task")[0]
        for stack in ("consumer", "producer")
        for name, definition in built.of(stack, "AWS::ECS::TaskDefinition").items()
        for container in definition["ContainerDefinitions"]
        if "DATABASE_OWNER_PASSWORD" in {secret["Name"] for secret in container["Secrets"]}
    }
    assert holders == {"Migration"}
