"""Tests of the reconciler."""
