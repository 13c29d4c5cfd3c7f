"""When is a task protected from scale-in? Pure: times, the busy count and the agent's answers go in.

Work starts only under a confirmed protection. Acquiring it before every receive would keep idle tasks protected, so
the barrier is after the receive; a message that meets a refusal goes back at once, for a task that can be protected.
Every such receive counts towards the dead-letter queue, and a deployment can refuse all its new tasks for as long as
the old ones' calls last. So a task receives nothing before it was granted protection once, and after a refusal it asks
again without a message: it costs messages at most one receive for each time that protection is taken from it.
All times are stage seconds from one monotonic clock.
"""

import dataclasses
from dataclasses import dataclass
from enum import Enum, auto

#: After the last message a task stays protected this long: the next one may be a poll away, and a long poll that it
#: opened while it was busy may bring one for up to 20 s (SQS's longest).
LINGER_S = 25.0
#: The first pause after a refusal, and the longest.
_PAUSE_S = 5.0
_PAUSE_CAP_S = 120.0
#: A renewal or a release that failed is tried again this much later.
_AGAIN_S = 30.0
#: A message that meets its second refusal stays away this long, doubled for each further one: every receive counts
#: towards the dead-letter queue, and a fleet of refused tasks would use them up in seconds.
_AWAY_S = 30.0


def away_s(receives: int) -> float:
    """Return how long a message that was refused stays hidden, by how often it was received (from 1).

    >>> [away_s(receives) for receives in (1, 2, 3, 4)]
    [0.0, 30.0, 60.0, 120.0]
    """
    return _AWAY_S * 2.0 ** min(receives - 2, 5) if receives > 1 else 0.0


class Action(Enum):
    """What to do now."""

    WAIT = auto()
    ACQUIRE = auto()
    RENEW = auto()
    RELEASE = auto()


class Admission(Enum):
    """What a request may do now."""

    START = auto()
    WAIT = auto()
    HAND_BACK = auto()


@dataclass(frozen=True, kw_only=True)
class Protection:
    """What is known of the task's protection.

    ``until``: it lapses then; 0 without one. ``renew_at``, ``release_at``, ``refused_until``: not before.
    ``refusals``: in a row. ``proven``: the last answer was a grant. ``idle_since``: when the last message was settled,
    None while one is held.
    ``release_at`` is None where there is nothing to release.
    """

    life_s: float
    until: float = 0.0
    renew_at: float = 0.0
    release_at: float | None = None
    refused_until: float = 0.0
    refusals: int = 0
    proven: bool = False
    idle_since: float | None = None

    def admission(self, now: float) -> Admission:
        """Return what a request that arrives now may do."""
        if now < self.until:
            return Admission.START
        return Admission.HAND_BACK if now < self.refused_until else Admission.WAIT

    def may_receive(self, now: float) -> bool:
        """Return whether a message that is received now is likely to start."""
        return now < self.until or (self.proven and now >= self.refused_until)

    def seen(self, now: float, *, busy: int) -> "Protection":
        """Note how many messages are held."""
        if busy:
            return dataclasses.replace(self, idle_since=None)
        return self if self.idle_since is not None else dataclasses.replace(self, idle_since=now)

    def action(self, now: float) -> Action:
        """Return what is due."""
        if self.idle_since is not None:
            if self.release_at is None:
                return Action.WAIT if self.proven or now < self.refused_until else Action.ACQUIRE
            return Action.RELEASE if now >= max(self.idle_since + LINGER_S, self.release_at) else Action.WAIT
        if now < self.until:
            return Action.RENEW if now >= self.renew_at else Action.WAIT
        return Action.ACQUIRE if now >= self.refused_until else Action.WAIT

    def granted(self, now: float) -> "Protection":
        """Note a granted protection: renewed at half its life, so that it lapses soon after a crash."""
        return Protection(
            life_s=self.life_s,
            until=now + self.life_s,
            renew_at=now + self.life_s / 2,
            release_at=now,
            proven=True,
            idle_since=self.idle_since,
        )

    def refused(self, now: float) -> "Protection":
        """Note a refusal, or an answer that says nothing: it counts as unprotected, unless one still holds."""
        if now < self.until:
            return dataclasses.replace(self, renew_at=now + _AGAIN_S)
        pause_s = min(_PAUSE_S * 2.0 ** min(self.refusals, 10), _PAUSE_CAP_S)
        return dataclasses.replace(self, refused_until=now + pause_s, refusals=self.refusals + 1, proven=False)

    def releasing(self, now: float) -> "Protection":
        """Forget the protection: noted before the agent is asked, so that nothing starts meanwhile."""
        return Protection(life_s=self.life_s, release_at=now + _AGAIN_S, proven=self.proven, idle_since=self.idle_since)

    def released(self) -> "Protection":
        """Note that the agent has ended the protection."""
        return dataclasses.replace(self, release_at=None)
