"""Whose turn is it? The publisher reads, CloudWatch acts on what it read, and then idle tasks may take work.

A scale-in acts on a reading that is seconds old. A task that began to work in between would be missing from it: the
desired count could fall under the busy tasks, and ECS would refuse new protection until the next reading. So both sides
take turns within each publish interval, on the one clock that they share: a CloudWatch period begins at a multiple of
its length, counted from the epoch ("Using Amazon CloudWatch metrics", Periods). The publisher reads shortly before a
period ends, and from before that until the alarm has been evaluated no idle task asks for protection or for messages.
A task that holds a message has been counted, and is never held up.
All times are stage seconds from the epoch.
"""

import math

#: The publisher reads so long before a period ends: its calls take less than a second, and a datapoint is stored in
#: another.
READ_LEAD_S = 2.0
#: What an idle task asked for is answered within this, so the hush begins so much before the reading ...
ANSWER_S = 1.0
#: ... and ends when an alarm has been evaluated on it and the desired count is set.
SETTLE_S = 2.0

_HUSH_S = ANSWER_S + READ_LEAD_S + SETTLE_S


def next_reading(now: float, every_s: float) -> float:
    """Return when the publisher reads next, after ``now``."""
    return (math.floor((now + READ_LEAD_S) / every_s) + 1) * every_s - READ_LEAD_S


def hush_left_s(now: float, every_s: float) -> float:
    """Return how long an idle task still must not take work, 0 where it may.

    >>> [hush_left_s(now, 10) for now in (6.9, 7, 8, 11, 12)]
    [0.0, 5.0, 4.0, 1.0, 0.0]
    """
    return max(_HUSH_S - (now + ANSWER_S + READ_LEAD_S) % every_s, 0.0)
