"""What the API sends, as OpenAPI knows it: plain values made of the job store's views. Times carry their zone."""

from collections.abc import Mapping
from typing import Any, Self
from uuid import UUID

import pydantic

from headway.jobs import BlockView, End, JobStatus, JobSummary, JobView, StepStatus, StepView

#: A block is what the first of these is that any of its steps is; it has succeeded when all have.
_BLOCK_ORDER = (StepStatus.FAILED, StepStatus.CANCELED, StepStatus.RUNNING, StepStatus.PENDING)


class StepDocument(pydantic.BaseModel):
    """One check of one block."""

    check: str
    status: StepStatus
    attempt: int
    result: Mapping[str, Any] | None
    reason: str | None

    @classmethod
    def of(cls, step: StepView) -> Self:
        """Return a step's document."""
        return cls(
            check=step.check_name,
            status=step.status,
            attempt=step.attempt,
            result=step.result,
            reason=step.reason,
        )


class BlockDocument(pydantic.BaseModel):
    """One block; ``box`` is (left, top, right, bottom) in pixels of its page, pages count from 1."""

    number: int
    page: int
    box: tuple[int, int, int, int]
    status: StepStatus
    steps: list[StepDocument]

    @classmethod
    def of(cls, block: BlockView) -> Self:
        """Return a block's document."""
        return cls(
            number=block.number,
            page=block.page,
            box=block.box,
            status=block_status([step.status for step in block.steps]),
            steps=[StepDocument.of(step) for step in block.steps],
        )


class JobSummaryDocument(pydantic.BaseModel):
    """One job; ``steps`` counts its steps by status, ``cost_usd`` sums its model calls so far."""

    id: UUID
    name: str
    status: JobStatus
    reason: str | None
    created_at: pydantic.AwareDatetime
    started_at: pydantic.AwareDatetime | None
    finished_at: pydantic.AwareDatetime | None
    steps: dict[StepStatus, int]
    cost_usd: float

    @classmethod
    def of(cls, summary: JobSummary) -> Self:
        """Return a summary's document."""
        return cls(**vars(summary))


class JobDocument(JobSummaryDocument):
    """One job with its blocks, in their order; none until it was cut."""

    blocks: list[BlockDocument]

    @classmethod
    def of_view(cls, view: JobView) -> Self:
        """Return a view's document."""
        return cls(**vars(view.summary), blocks=[BlockDocument.of(block) for block in view.blocks])


class JobsDocument(pydantic.BaseModel):
    """Jobs, newest first; ``before`` asks for those that come after them, None where there are none."""

    jobs: list[JobSummaryDocument]
    before: pydantic.AwareDatetime | None


class EndDocument(pydantic.BaseModel):
    """The event that ended a job: who did it, why, and when by the database's clock."""

    id: UUID
    actor: str | None
    reason: str | None
    at: pydantic.AwareDatetime

    @classmethod
    def of(cls, end: End) -> Self:
        """Return an event's document."""
        return cls(id=end.event_id, actor=end.actor, reason=end.reason, at=end.at)


class CanceledDocument(pydantic.BaseModel):
    """A job that is canceled, by the event that did it: asked twice, the same one."""

    job: UUID
    status: JobStatus
    event: EndDocument


def block_status(steps: list[StepStatus]) -> StepStatus:
    """Return what a block is, by its steps.

    >>> block_status([StepStatus.SUCCEEDED, StepStatus.RUNNING])
    <StepStatus.RUNNING: 'running'>
    >>> block_status([StepStatus.SUCCEEDED, StepStatus.SUCCEEDED])
    <StepStatus.SUCCEEDED: 'succeeded'>
    """
    return next((status for status in _BLOCK_ORDER if status in steps), StepStatus.SUCCEEDED)
