"""Which image do tasks run? One by its digest, or one built from a folder at deployment."""

import re
from pathlib import Path

from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecr_assets as assets
from aws_cdk import aws_ecs as ecs
from constructs import Construct

_DIGEST = re.compile(r"(?P<name>.+)@(?P<digest>sha256:[0-9a-f]{64})")
_ECR = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?P<cn>\.cn)?/(?P<repository>.+)"
)


def import_image(scope: Construct, id_: str, *, name: str) -> ecs.ContainerImage:
    """Return the image called ``name``, as ``repository@sha256:digest``.

    An image in ECR comes with the right to pull it.

    Raises:
        ValueError: the name has no digest, so it could be another image tomorrow.
    """
    parts = _DIGEST.fullmatch(name)
    if not parts:
        raise ValueError(f"image {name!r}: a tag can move; pin name@sha256:digest")
    home = _ECR.fullmatch(parts["name"])
    if not home:
        return ecs.ContainerImage.from_registry(name)
    partition = "aws-cn" if home["cn"] else "aws"
    repository = ecr.Repository.from_repository_attributes(
        scope,
        id_,
        repository_name=home["repository"],
        repository_arn=f"arn:{partition}:ecr:{home['region']}:{home['account']}:repository/{home['repository']}",
    )
    return ecs.ContainerImage.from_ecr_repository(repository, parts["digest"])


def build_image(context: Path, *, include: tuple[str, ...]) -> ecs.ContainerImage:
    """Return an image built from ``context``/Dockerfile, for x86-64 whatever machine builds it.

    Only the paths in ``include`` enter the build, so a stray file changes nothing. Docker runs at deployment; synth
    needs none.
    """
    return ecs.ContainerImage.from_asset(
        str(context), exclude=allow_list("Dockerfile", *include), platform=assets.Platform.LINUX_AMD64
    )


def allow_list(*paths: str) -> list[str]:
    """Return ignore patterns, in Docker's order of last match wins, that let through only ``paths``."""
    return ["*", *(f"!{path}" for path in paths), "**/__pycache__"]
