"""Tests of `headway_ops.promotion`."""
