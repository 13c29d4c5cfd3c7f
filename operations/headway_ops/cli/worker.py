"""``headway worker``: the container's own entry point, for a shell that has its environment."""

import os
import sys

import typer


def worker(context: typer.Context) -> None:
    """Consume one lane, as the environment says (the same as python -m headway.worker)."""
    os.execv(sys.executable, [sys.executable, "-m", "headway.worker", *context.args])  # noqa: S606  # our own module
