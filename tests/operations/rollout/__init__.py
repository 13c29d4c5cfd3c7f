"""Tests of `headway_ops.rollout`."""
