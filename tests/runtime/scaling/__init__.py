"""Tests of headway.scaling."""
