"""Runs a task once in the middle of a deployment, and lets the deployment go on only where it ended well."""
