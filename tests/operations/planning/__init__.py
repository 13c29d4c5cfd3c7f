"""Tests of `headway_ops.planning`."""
