"""Tests of `headway_ops.verify`."""
