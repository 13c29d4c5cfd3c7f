"""Reusable CDK constructs: lanes, worker services, and the backlog scaling that makes them keep up."""
