"""Tests of `headway_ops.demo`."""
