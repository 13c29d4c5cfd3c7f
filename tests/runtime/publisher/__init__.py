"""Tests of headway.publisher."""
