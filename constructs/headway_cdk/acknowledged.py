"""What cdk-nag's AwsSolutions pack would report, and why it stays: each reason stands beside the construct it is for.

cdk-nag reads the acknowledgements that the CDK keeps with a construct, for it and all below it. It is no dependency:
an app that does not run it never notices.
"""

import aws_cdk as cdk
import jsii
from constructs import IConstruct, IValidation

from headway_cdk.flat import flat

_PACK = "AwsSolutions"


def acknowledge(construct: IConstruct, rule: str, reason: str) -> None:
    """Acknowledge one finding of a construct, such as ``ECS2``, with the reason why it stays."""
    cdk.Validations.of(construct).acknowledge(cdk.Acknowledgment(id=f"{_PACK}-{rule}", reason=reason))


def acknowledge_open_arn(construct: IConstruct, arn: str, reason: str) -> None:
    """Acknowledge that a policy below ``construct`` allows its actions on ``arn``, which holds a wildcard.

    It is that ARN alone: another open one is a finding still.
    """
    construct.node.add_validation(_OnceKnown(construct, arn, reason))


@jsii.implements(IValidation)
class _OnceKnown:
    """Acknowledges when the CDK validates the tree: only then has a reference to another stack got its final text."""

    def __init__(self, construct: IConstruct, arn: str, reason: str) -> None:
        self._construct = construct
        self._arn = arn
        self._reason = reason

    def validate(self) -> list[str]:
        """Acknowledge; there is nothing to complain about."""
        arn = flat(cdk.Stack.of(self._construct).resolve(self._arn))
        acknowledge(self._construct, f"IAM5[Resource::{arn}]", self._reason)
        return []
