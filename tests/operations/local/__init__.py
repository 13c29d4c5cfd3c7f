"""Tests of `headway_ops.local`."""
