"""Tests of `headway_ops.cli`."""
