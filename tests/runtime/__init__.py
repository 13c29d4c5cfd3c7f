"""Tests of headway, what runs in the tasks and in the function."""
