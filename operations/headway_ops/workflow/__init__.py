"""The GitHub Actions twin of the pipeline, written from the same list of steps."""

from headway_ops.workflow.document import workflow

__all__ = ["workflow"]
