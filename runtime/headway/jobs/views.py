"""What people and tools see of jobs, as plain values. Times are aware datetimes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from headway.jobs.states import JobStatus, StepStatus


@dataclass(frozen=True, kw_only=True)
class JobSummary:
    """One job; ``steps`` counts its steps by status, ``cost_usd`` sums its model calls."""

    id: UUID
    name: str
    status: JobStatus
    reason: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    steps: Mapping[StepStatus, int] = field(default_factory=dict)
    cost_usd: float = 0.0


@dataclass(frozen=True, kw_only=True)
class StepView:
    """One check of one block."""

    id: UUID
    check_name: str
    status: StepStatus
    attempt: int
    result: Mapping[str, Any] | None
    reason: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class BlockView:
    """One block with its steps; ``box`` is (left, top, right, bottom) in pixels of its page."""

    number: int
    page: int
    box: tuple[int, int, int, int]
    image_key: str
    steps: tuple[StepView, ...]


@dataclass(frozen=True, kw_only=True)
class JobView:
    """One job with its blocks, in their order."""

    summary: JobSummary
    blocks: tuple[BlockView, ...]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What a job was submitted with, and its status now."""

    name: str
    drawing_key: str
    status: JobStatus
