"""Tests of headway.contract."""
