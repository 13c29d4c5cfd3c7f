"""Tests of `headway_ops.doctor`."""
