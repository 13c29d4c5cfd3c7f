"""What promotes the stages."""

import pydantic

from stacks.settings.frozen import Frozen


class PipelineSettings(Frozen):
    """What promotes a repository's branch through the stages; ``approve`` are those that a person lets begin.

    ``account`` and ``region`` are where the pipeline itself is. Roles are names of roles in each stage's own account:
    ``verify_role`` verifies it, empty: the bootstrap's lookup role, which may read, and sends nothing through;
    ``deploy_role`` is what a GitHub workflow takes on to deploy and to verify.
    """

    repository: str
    branch: str = "main"
    connection_arn: str
    account: str
    region: str
    stages: list[str]
    approve: list[str] = pydantic.Field(default_factory=list)
    verify_role: str = ""
    deploy_role: str = "headway-deploy"
