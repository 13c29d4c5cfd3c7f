"""The VPC of a stage that brings none of its own."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from headway_cdk import create_vpc, import_vpc
from stacks.settings import StageSettings


class NetworkStack(cdk.Stack):
    """A VPC in a stack of its own, so that neither the job store nor the consumer can take it with them."""

    def __init__(self, scope: Construct, id_: str, *, settings: StageSettings, stack_name: str) -> None:
        self._zones = settings.network.max_azs
        super().__init__(scope, id_, stack_name=stack_name, termination_protection=settings.termination_protection)
        self.vpc = create_vpc(self, "Vpc", max_azs=settings.network.max_azs, nat_gateways=settings.network.nat_gateways)

    @property
    def availability_zones(self) -> list[str]:
        """The region's first zones, named at deployment: synthesis needs no lookup, whatever the account."""
        return [cdk.Fn.select(index, cdk.Fn.get_azs()) for index in range(self._zones)]


def vpc_for(scope: Construct, settings: StageSettings, created: ec2.IVpc | None) -> ec2.IVpc:
    """Return the stage's VPC: the created one, or an import by the settings' ids into ``scope``."""
    network = settings.network
    return created or import_vpc(
        scope,
        "Vpc",
        vpc_id=network.vpc_id,
        availability_zones=network.availability_zones,
        private_subnet_ids=network.private_subnet_ids,
    )
