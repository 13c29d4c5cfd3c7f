"""Tests of the task that runs once in a deployment."""
