"""How many calls may a process have in flight, by what the server said last?

Additive increase, multiplicative decrease: a process that is told to slow down halves its calls at once, and gains one
back with each answer, as TCP does with its window (RFC 5681, 3.1).
"""

import dataclasses
import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Pace:
    """``limit`` calls now, at most ``most``; ``cut_at`` is when it was cut last, on the caller's clock, seconds."""

    most: int
    limit: int
    cut_at: float = -math.inf

    @classmethod
    def full(cls, most: int) -> "Pace":
        """Return the pace of a process that was never refused."""
        return cls(most=most, limit=most)

    def answered(self) -> "Pace":
        """Return the pace after an answer.

        >>> Pace(most=8, limit=4).answered().limit, Pace(most=8, limit=8).answered().limit
        (5, 8)
        """
        return dataclasses.replace(self, limit=min(self.limit + 1, self.most))

    def refused(self, *, sent_at: float, now: float) -> "Pace":
        """Return the pace after a 429 to a request that was sent at ``sent_at``.

        Requests that were sent together are refused together: those sent before the last cut say nothing of the pace
        since.

        >>> Pace(most=8, limit=8).refused(sent_at=0.0, now=1.0).refused(sent_at=0.5, now=1.1).limit
        4
        """
        if sent_at < self.cut_at:
            return self
        return dataclasses.replace(self, limit=max(self.limit // 2, 1), cut_at=now)
