"""The composition root: one deployment for each stage in stages.toml, and what promotes them."""

import os
import sys

# The CDK's template rules use more CPU than the whole synthesis. `make test` runs them on every stage; to run them
# here, set CDK_VALIDATION=true. The CDK reads the variable when it is first imported.
os.environ.setdefault("CDK_VALIDATION", "false")

import aws_cdk as cdk

from stacks.deployment import Deployment
from stacks.loading import SettingsError, load_pipeline, load_stages
from stacks.pipeline import PipelineStack


def main() -> int:
    """Synthesize every stage; return 0, or 3 where the settings cannot be used."""
    try:
        stages = load_stages()
        pipeline = load_pipeline(stages)
    except SettingsError as error:
        print(error, file=sys.stderr)  # noqa: T201  # the one line a person needs, without a traceback
        return 3
    app = cdk.App()
    deployments = {name: Deployment(app, name, settings=settings) for name, settings in stages.items()}
    if pipeline:
        PipelineStack(app, "Pipeline", settings=pipeline, stages=stages, deployments=deployments)
    app.synth()
    return 0


if __name__ == "__main__":
    sys.exit(main())
