"""What is wrong with a workload."""


class WorkloadError(ValueError):
    """A workload that cannot be used; the message is one line: field, value, bound, fix."""
