"""What became of every message? Counted from ledgers that know nothing of each other. Pure: their rows go in.

The job store says what was accepted, the model server what was asked and answered, the agent what was protected, and
the fleet what was killed. All times are the wall clock of the one machine that they run on.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.faults.fleet import Hit


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One line of the model server's log: which task asked about which step, from when to when."""

    step: str
    task: str
    started: float
    ended: float
    outcome: str

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> "Asked":
        """Read a line."""
        return cls(
            step=line["step"],
            task=line["worker"],
            started=line["started"],
            ended=line["ended"],
            outcome=line["outcome"],
        )


def called_twice(asked: Iterable[Asked], hits: Sequence[Hit], outages: Sequence[tuple[float, float]]) -> int:
    """Count the steps that were answered again, though nothing had happened to the task that had the first answer.

    An answer may be lost with its task, or with its claim where the job store was away: only that excuses another.
    """
    answered = defaultdict(list)
    for call in sorted(asked, key=lambda call: call.started):
        if call.outcome == "answered":
            answered[call.step].append(call)

    def excused(first: Asked, second: Asked) -> bool:
        killed = any(hit.task == first.task and first.started <= hit.at <= second.started for hit in hits)
        return killed or any(start <= second.started and end >= first.started for start, end in outages)

    return sum(
        not all(excused(first, second) for first, second in itertools.pairwise(calls)) for calls in answered.values()
    )


def started_unprotected(
    asked: Iterable[Asked], granted: Sequence[tuple[float, str, int]], *, minute_s: float, lane: str
) -> int:
    """Count the calls of a lane's tasks that began outside a granted protection, ``minute_s`` wall seconds a minute."""
    spans = defaultdict(list)
    for task, start, end in protected(granted, minute_s=minute_s):
        spans[task].append((start, end))
    return sum(
        call.task.startswith(lane) and not any(start <= call.started < end for start, end in spans[call.task])
        for call in asked
    )


def protected(granted: Sequence[tuple[float, str, int]], *, minute_s: float) -> Iterator[tuple[str, float, float]]:
    """Yield (task, from, until) for each grant: until it was renewed, released or over."""
    latest: dict[str, tuple[float, int]] = {}
    for at, task, minutes in [*granted, *[(float("inf"), task, 0) for task in {task for _, task, _ in granted}]]:
        if task in latest:
            since, life = latest[task]
            yield task, since, min(at, since + life * minute_s)
        latest[task] = (at, minutes)


def more_than_once(keys: Iterable[Any]) -> int:
    """Count the keys that come more than once."""
    return sum(count > 1 for count in Counter(keys).values())
