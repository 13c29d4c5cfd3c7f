"""Tests of `headway_ops`."""
