"""What one run of the reconciler did, as one value."""

from dataclasses import dataclass, field
from uuid import UUID


@dataclass(kw_only=True)
class Counts:
    """Jobs that looked silent and were canceled (``swept``), or were alive after all (``reprieved``).

    ``requeued`` messages were sent once more, ``buried`` steps and jobs failed because their message is among the dead
    letters, ``errors`` were met and logged. ``would_sweep`` and ``would_requeue`` are a dry run's.
    """

    swept: int = 0
    reprieved: int = 0
    requeued: int = 0
    buried: int = 0
    errors: int = 0
    would_sweep: list[UUID] = field(default_factory=list)
    would_requeue: list[UUID] = field(default_factory=list)
