"""``headway workflow``: the GitHub Actions twin of the pipeline, as text."""

import sys

from headway_ops.workflow import workflow
from stacks.loading import load_pipeline, load_stages


def workflow_command() -> None:
    """Print the workflow that promotes as the pipeline does; `make workflow` keeps it."""
    stages = load_stages()
    sys.stdout.write(workflow(load_pipeline(stages), stages))
