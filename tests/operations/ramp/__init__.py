"""Tests of `headway_ops.ramp`."""
