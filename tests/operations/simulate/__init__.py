"""Tests of `headway_ops.loop`."""
