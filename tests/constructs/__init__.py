"""Tests of headway_cdk, each construct in an empty stack."""
