"""A pipeline over two stages for the tests: the repository's own stages.toml has none."""

import functools
import json
from collections.abc import Mapping
from pathlib import Path

import aws_cdk as cdk

from stacks.deployment import Deployment
from stacks.loading import load_stages
from stacks.pipeline import PipelineStack
from stacks.settings import PipelineSettings, StageSettings
from tests.synth import Synthesized, app, varied

SETTINGS = PipelineSettings(
    repository="somebody/fork",
    connection_arn="arn:aws:codeconnections:eu-west-1:111122223333:connection/c",
    account="111122223333",
    region="eu-west-1",
    stages=["dev", "prod"],
    approve=["prod"],
)
#: Each stage in an account of its own, one of them bootstrapped under a name of its own.
ACCOUNTS = {"dev": "444455556666", "prod": "777788889999"}
QUALIFIERS = {"dev": "team", "prod": ""}


def stages() -> Mapping[str, StageSettings]:
    """Return the stages to promote, each with its account."""
    found = load_stages()
    return {
        name: varied(found[name], account=account, governance__bootstrap_qualifier=QUALIFIERS[name])
        for name, account in ACCOUNTS.items()
    }


def pipeline(root: cdk.App) -> PipelineStack:
    """Return the pipeline's stack in an app that has the stages too."""
    known = stages()
    deployments = {name: Deployment(root, name, settings=settings) for name, settings in known.items()}
    return PipelineStack(root, "Pipeline", settings=SETTINGS, stages=known, deployments=deployments)


@functools.cache
def synthesized() -> Synthesized:
    """Return the pipeline's template alone, as ``pipeline``, synthesized once a test run."""
    root = app()
    pipeline(root)
    folder = Path(root.synth().directory)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    template = json.loads((folder / "Pipeline.template.json").read_text(encoding="utf-8"))
    return Synthesized(templates={"pipeline": template}, manifest=manifest, folder=folder)
