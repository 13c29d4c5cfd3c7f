"""The KMS key of a stage that brings one; without it AWS's own keys encrypt."""

from aws_cdk import aws_kms as kms
from constructs import Construct

from stacks.settings import StageSettings


def key_for(scope: Construct, settings: StageSettings) -> kms.IKey | None:
    """Return the stage's key, imported into ``scope``, or None.

    Its own policy must let the account's IAM policies decide, as the default one does ("Default key policy", KMS).
    """
    arn = settings.encryption.key_arn
    return kms.Key.from_key_arn(scope, "Key", arn) if arn else None
