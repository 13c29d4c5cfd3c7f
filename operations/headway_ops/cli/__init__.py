"""The ``headway`` command."""

from headway_ops.cli.app import main

__all__ = ["main"]
