"""How long may each held message stay hidden? Pure: the held messages and the time go in.

SQS counts 12 hours from a message's receive and refuses an extension beyond them ("Amazon SQS visibility timeout" in
the SQS developer guide: 43,195 s after the receive are accepted and 43,200 are not), so a margin is kept.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

CAP_S = 43_200
_MARGIN_S = 60


@dataclass(frozen=True, kw_only=True)
class Due:
    """One beat's work: the seconds from now to hide each message for, and those that have just come to the cap."""

    extend: Mapping[str, int]
    lapsed: Collection[str]


@dataclass(kw_only=True)
class Leases:
    """The messages of one worker, by receipt handle, and since when it holds each.

    Times are wall seconds of one monotonic clock. A message is first seen at a beat, up to one beat after its receive;
    the margin covers that.
    """

    visibility_s: int
    _since: dict[str, float] = field(default_factory=dict)
    _lapsed: set[str] = field(default_factory=set)

    def due(self, held: Collection[str], now: float) -> Due:
        """Return what to do for the messages that are held ``now``."""
        before = self._since
        self._since = {handle: before.get(handle, now) for handle in held}
        left = {handle: int(since + CAP_S - _MARGIN_S - now) for handle, since in self._since.items()}
        extend = {handle: min(self.visibility_s, left_s) for handle, left_s in left.items() if left_s > 0}
        at_cap = left.keys() - extend.keys()
        lapsed, self._lapsed = at_cap - self._lapsed, at_cap
        return Due(extend=extend, lapsed=lapsed)


def next_beat_s(beat_s: float, draw: float) -> float:
    """Return the wait until the next beat: up to a tenth early, never late, so that many workers spread out.

    >>> next_beat_s(40.0, 0.0), next_beat_s(40.0, 1.0)
    (40.0, 36.0)
    """
    return beat_s * (1 - 0.1 * draw)
