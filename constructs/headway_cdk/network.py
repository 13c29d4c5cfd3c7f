"""Where do tasks and databases live? A VPC of its own, or the one a team already has."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct


def create_vpc(scope: Construct, id_: str, *, max_azs: int = 2, nat_gateways: int = 1) -> ec2.Vpc:
    """Return a new VPC with flow logs, a free S3 endpoint, and isolated subnets for databases.

    With NAT gateways tasks get private subnets; without them there are only public ones (see `task_subnets`).
    """
    tiers = [
        ec2.SubnetConfiguration(name="Public", subnet_type=ec2.SubnetType.PUBLIC, cidr_mask=24),
        ec2.SubnetConfiguration(name="Data", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=24),
    ]
    if nat_gateways:
        tiers.insert(
            1, ec2.SubnetConfiguration(name="Tasks", subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS, cidr_mask=20)
        )
    return ec2.Vpc(
        scope,
        id_,
        max_azs=max_azs,
        nat_gateways=nat_gateways,
        subnet_configuration=tiers,
        flow_logs={"All": ec2.FlowLogOptions()},
        gateway_endpoints={"S3": ec2.GatewayVpcEndpointOptions(service=ec2.GatewayVpcEndpointAwsService.S3)},
    )


def import_vpc(
    scope: Construct, id_: str, *, vpc_id: str, availability_zones: Sequence[str], private_subnet_ids: Sequence[str]
) -> ec2.IVpc:
    """Return an existing VPC by its ids, without a lookup; its private subnets must reach AWS and the model.

    Raises:
        ValueError: there is not one subnet a zone.
    """
    if len(availability_zones) != len(private_subnet_ids):
        raise ValueError(
            f"{len(private_subnet_ids)} private_subnet_ids for {len(availability_zones)} availability_zones: "
            "list one subnet a zone"
        )
    return ec2.Vpc.from_vpc_attributes(
        scope,
        id_,
        vpc_id=vpc_id,
        availability_zones=list(availability_zones),
        private_subnet_ids=list(private_subnet_ids),
    )


def task_subnets(vpc: ec2.IVpc) -> ec2.SubnetSelection:
    """Return where tasks run: private subnets, or public ones in a VPC without NAT.

    A task calls a model outside AWS, so it needs a way out; in a public subnet that is an address of its own, and a
    security group without ingress keeps everyone else out.
    """
    return ec2.SubnetSelection(subnets=vpc.private_subnets or vpc.public_subnets)


def data_subnets(vpc: ec2.IVpc) -> ec2.SubnetSelection:
    """Return where databases run: isolated subnets, or private ones in a VPC that has none."""
    return ec2.SubnetSelection(subnets=vpc.isolated_subnets or vpc.private_subnets)
