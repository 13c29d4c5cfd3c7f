"""Which states are there, and which may follow which?

job   pending -> running -> succeeded | failed | canceled      (pending may also fail or be canceled)
step  pending -> running -> succeeded | failed | canceled      (running may go back to pending, or be claimed again;
                                                                pending may also be canceled, or fail)

The job store's own functions move them, and nothing else can (migrations/versions/writers.py): each locks the job's row
first and the step's second, writes only what the state at hand allows, and records one event for each transition.
"""

from enum import StrEnum


class JobStatus(StrEnum):
    """A job's state; it runs from its blocksplit's beginning until its last step has ended."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"


class StepStatus(StrEnum):
    """A step's state; it runs while a worker holds its claim."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"


ACTIVE_JOB = frozenset({JobStatus.PENDING, JobStatus.RUNNING})
ACTIVE_STEP = frozenset({StepStatus.PENDING, StepStatus.RUNNING})
