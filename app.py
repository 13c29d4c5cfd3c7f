"""The composition root: one deployment for each stage in stages.toml."""

import os
import sys

# The CDK's template rules use more CPU than the whole synthesis. `make test` runs them on every stage; to run them
# here, set CDK_VALIDATION=true. The CDK reads the variable when it is first imported.
os.environ.setdefault("CDK_VALIDATION", "false")

import aws_cdk as cdk

from stacks.deployment import Deployment
from stacks.loading import SettingsError, load_stages


def main() -> int:
    """Synthesize every stage; return 0, or 3 where the settings cannot be used."""
    try:
        stages = load_stages()
    except SettingsError as error:
        print(error, file=sys.stderr)  # noqa: T201  # the one line a person needs, without a traceback
        return 3
    app = cdk.App()
    for name, settings in stages.items():
        Deployment(app, name, settings=settings)
    app.synth()
    return 0


if __name__ == "__main__":
    sys.exit(main())
