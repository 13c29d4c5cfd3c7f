"""Tests of `headway_ops.report`."""
