"""Tests of `headway_ops.costs`."""
