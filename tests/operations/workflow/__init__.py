"""Tests of `headway_ops.workflow`."""
