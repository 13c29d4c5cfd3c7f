"""A stage as a whole: names, promotion order, protection and tags; tests/audit/ has what no template may hold."""

from typing import Any

import pytest

from tests.constructs.containers import assert_hardened
from tests.synth import Synthesized, stage

STAGES = ("dev", "prod", "local")


def stacks(built: Synthesized) -> dict[str, dict[str, Any]]:
    """Return the manifest's entry of each stack, by short name."""
    return {
        artifact["properties"]["stackName"].split("-", 2)[2]: artifact
        for artifact in built.manifest["artifacts"].values()
        if artifact["type"] == "aws:cloudformation:stack"
    }


def before(built: Synthesized, name: str) -> set[str]:
    """Return the stacks that must be deployed before stack ``name``."""
    by_id = built.manifest["artifacts"]
    found: set[str] = set()
    waiting = list(stacks(built)[name].get("dependencies", ()))
    while waiting:
        entry = by_id[waiting.pop()]
        if entry["type"] == "aws:cloudformation:stack":
            found.add(entry["properties"]["stackName"].split("-", 2)[2])
            waiting += entry.get("dependencies", ())
    return found


@pytest.mark.parametrize("name", STAGES)
def test_promotion_order_is_infrastructure_consumer_producer(name: str) -> None:
    """The manifest orders the stacks: producers deploy last, consumers after queues and job store."""
    built = stage(name)
    assert {"queues", "jobstore"} <= before(built, "consumer")
    assert {"queues", "jobstore", "consumer"} <= before(built, "producer")
    assert "consumer" not in before(built, "queues") | before(built, "jobstore") | before(built, "network")


@pytest.mark.parametrize(("name", "protected"), [("prod", True), ("dev", False)])
def test_stateful_stacks_are_protected_where_the_stage_says_so(name: str, protected: bool) -> None:
    """Termination protection covers what holds messages, data and addresses."""
    found = {key: entry["properties"].get("terminationProtection", False) for key, entry in stacks(stage(name)).items()}
    stateless = {"consumer": False, "producer": False}
    assert found == {"network": protected, "queues": protected, "jobstore": protected, **stateless}


def test_resources_carry_their_stage() -> None:
    """Every cluster, queue and bucket can be found and paid for by its stage."""
    built = stage("prod")
    for name, kind in (
        ("queues", "AWS::SQS::Queue"),
        ("consumer", "AWS::ECS::Cluster"),
        ("jobstore", "AWS::S3::Bucket"),
    ):
        for properties in built.of(name, kind).values():
            assert {"Key": "headway:stage", "Value": "prod"} in properties["Tags"]


@pytest.mark.parametrize("name", STAGES)
def test_references_between_stacks_are_weak(name: str) -> None:
    """No stack exports, so none is locked by another; values travel as Fn::GetStackOutput."""
    templates = stage(name).templates
    assert "Fn::ImportValue" not in str(templates)
    assert "Fn::GetStackOutput" in str(templates["consumer"])
    assert not [o for t in templates.values() for o in t.get("Outputs", {}).values() if "Export" in o]


@pytest.mark.parametrize("name", STAGES)
def test_synthesis_needs_no_lookup(name: str) -> None:
    """Nothing in the manifest waits for an account to be asked, also where the account is known."""
    assert not stage(name).manifest.get("missing")


@pytest.mark.parametrize("name", STAGES)
def test_public_addresses_follow_the_number_of_zones(name: str) -> None:
    """Each tier has a subnet in every zone asked for, also in an account that synthesis does not know."""
    built = stage(name)
    zones = {str(s["AvailabilityZone"]) for s in built.of("network", "AWS::EC2::Subnet").values()}
    assert len(zones) == (3 if name == "prod" else 2)


def test_every_container_of_a_stage_is_hardened() -> None:
    """The services', the reconciler's and the migration's alike."""
    prod = stage("prod")
    containers = [
        container
        for stack_name in prod.templates
        for definition in prod.of(stack_name, "AWS::ECS::TaskDefinition").values()
        for container in definition["ContainerDefinitions"]
    ]
    assert len(containers) == 5
    for container in containers:
        assert_hardened(container)
