"""Tests of whole stages: what the stacks wire, and what their settings may not say."""
