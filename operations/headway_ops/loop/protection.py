"""Which tasks may a scale-in not touch, until when, and when does ECS refuse?

Modelled from the ECS developer guide ("Protect your Amazon ECS tasks from being terminated by scale-in events") and
the UpdateTaskProtection API: 1..2,880 minutes, 120 by default, each call starts the time anew.
"""

import math
from collections.abc import Iterable, Set
from dataclasses import dataclass, field

DEFAULT_MIN = 120
MAX_MIN = 2_880


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A protection that was not given; ``reason`` is ECS's own code."""

    reason: str
    detail: str


@dataclass
class Protections:
    """The protected tasks of all services, with each one's expiry in stage seconds."""

    expires: dict[str, float] = field(default_factory=dict)
    #: Nothing lapses before.
    _soonest: float = math.inf

    def protected(self, task: str, now: float) -> bool:
        """Return whether a scale-in must leave ``task`` alone."""
        return self.expires.get(task, now) > now

    def count(self, tasks: Iterable[str], now: float) -> int:
        """Return how many of ``tasks`` a scale-in must leave alone."""
        until = self.expires.get
        return sum([until(task, now) > now for task in tasks])

    def total(self, now: float) -> int:
        """Return how many tasks are protected; what has lapsed is forgotten."""
        if now >= self._soonest:
            self.expires = {task: until for task, until in self.expires.items() if until > now}
            self._soonest = min(self.expires.values(), default=math.inf)
        return len(self.expires)

    def protect(
        self, task: str, *, minutes: int | None, siblings: Set[str], desired: int, now: float
    ) -> Refusal | None:
        """Protect ``task``, or say why not.

        Refused while the service has more protected tasks than its desired count: the deployment or the scale-in that
        wants them gone is blocked, and new protection would block it further. ``siblings`` are the service's tasks.
        """
        minutes = DEFAULT_MIN if minutes is None else minutes
        if not 1 <= minutes <= MAX_MIN:
            return Refusal(reason="InvalidParameterException", detail=f"expiresInMinutes must be 1..{MAX_MIN}")
        if not self.protected(task, now) and self.count(siblings - {task}, now) + 1 > desired:
            return Refusal(reason="DEPLOYMENT_BLOCKED", detail="more protected tasks than the service's desired count")
        self.expires[task] = until = now + minutes * 60
        self._soonest = min(self._soonest, until)
        return None

    def release(self, task: str) -> None:
        """End ``task``'s protection; without one, nothing changes."""
        self.expires.pop(task, None)
