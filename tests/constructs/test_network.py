"""The network helpers: where tasks and databases live in a created VPC and in an imported one."""

import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from headway_cdk import create_vpc, import_vpc
from headway_cdk.network import data_subnets, task_subnets
from tests.synth import stack


def ids(selection: ec2.SubnetSelection) -> list[str]:
    """Return the ids of the subnets a selection lists."""
    return [subnet.subnet_id for subnet in selection.subnets or ()]


def test_created_vpc_logs_its_flows_and_reaches_s3_for_free() -> None:
    """Flow logs are on, and drawings do not pass through NAT."""
    scope = stack()
    create_vpc(scope, "Vpc")
    template = Template.from_stack(scope)
    template.has_resource_properties("AWS::EC2::FlowLog", {"TrafficType": "ALL"})
    template.has_resource_properties("AWS::EC2::VPCEndpoint", {"VpcEndpointType": "Gateway"})


def test_tasks_and_databases_have_tiers_of_their_own() -> None:
    """With NAT tasks are private; databases are isolated either way."""
    vpc = create_vpc(stack(), "Vpc", nat_gateways=1)
    assert ids(task_subnets(vpc)) == [subnet.subnet_id for subnet in vpc.private_subnets]
    assert ids(data_subnets(vpc)) == [subnet.subnet_id for subnet in vpc.isolated_subnets]


def test_without_nat_there_is_no_gateway_and_tasks_are_public() -> None:
    """No NAT gateway is created, and tasks use the public subnets."""
    scope = stack()
    vpc = create_vpc(scope, "Vpc", nat_gateways=0)
    assert ids(task_subnets(vpc)) == [subnet.subnet_id for subnet in vpc.public_subnets]
    Template.from_stack(scope).resource_count_is("AWS::EC2::NatGateway", 0)


def test_imported_vpc_puts_everything_in_its_private_subnets() -> None:
    """A team's own VPC needs only private subnets, and no lookup."""
    vpc = import_vpc(
        stack(), "Vpc", vpc_id="vpc-1", availability_zones=["a", "b"], private_subnet_ids=["subnet-1", "subnet-2"]
    )
    for selection in (task_subnets(vpc), data_subnets(vpc)):
        assert ids(selection) == ["subnet-1", "subnet-2"]


def test_import_needs_one_subnet_a_zone() -> None:
    """Zones and subnets are told apart by their place, so their numbers must agree."""
    with pytest.raises(ValueError, match="1 private_subnet_ids for 2 availability_zones"):
        import_vpc(stack(), "Vpc", vpc_id="vpc-1", availability_zones=["a", "b"], private_subnet_ids=["subnet-1"])
