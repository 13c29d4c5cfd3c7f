"""Which states are there, and which may follow which?

job   pending -> running -> succeeded | failed | canceled      (pending may also fail or be canceled)
step  pending -> running -> succeeded | failed | canceled      (running may go back to pending, or be claimed again)
"""

from collections.abc import Mapping
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


#: Each job state, and the states it may follow.
JOB_FOLLOWS: Mapping[JobStatus, frozenset[JobStatus]] = {
    JobStatus.PENDING: frozenset(),
    JobStatus.RUNNING: frozenset({JobStatus.PENDING}),
    JobStatus.SUCCEEDED: frozenset({JobStatus.RUNNING}),
    JobStatus.FAILED: frozenset({JobStatus.PENDING, JobStatus.RUNNING}),
    JobStatus.CANCELED: frozenset({JobStatus.PENDING, JobStatus.RUNNING}),
}

#: Each step state, and the states it may follow. Running follows running where the holder's lease has expired.
STEP_FOLLOWS: Mapping[StepStatus, frozenset[StepStatus]] = {
    StepStatus.PENDING: frozenset({StepStatus.RUNNING}),
    StepStatus.RUNNING: frozenset({StepStatus.PENDING, StepStatus.RUNNING}),
    StepStatus.SUCCEEDED: frozenset({StepStatus.RUNNING}),
    StepStatus.FAILED: frozenset({StepStatus.RUNNING}),
    StepStatus.CANCELED: frozenset({StepStatus.PENDING, StepStatus.RUNNING}),
}

ACTIVE_JOB = frozenset({JobStatus.PENDING, JobStatus.RUNNING})
ACTIVE_STEP = frozenset({StepStatus.PENDING, StepStatus.RUNNING})
