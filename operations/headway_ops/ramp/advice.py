"""Whether one more doubling of the calls in flight is safe, from the calls that were made."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from headway.scaling import in_flight
from headway_ops.ramp.calllog import Call

#: Calls that met a 429, at most: each is a pause of a slot, and a few in a thousand cost nothing.
MOST_RATE_LIMITED = 0.005
#: The median latency at the highest level, at most this many times that at the lowest: else the model queues calls.
MOST_SLOWER = 1.25
#: Fewer calls at a level say little.
FEWEST_CALLS = 20


@dataclass(frozen=True, kw_only=True)
class Level:
    """Calls that began with so many in flight in their process, their latencies, and the share that met a 429."""

    in_flight: int
    calls: int
    latency_p50_s: float
    latency_p95_s: float
    rate_limited: float


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to do: ``to`` is the next max_inflight, or the present one with the reasons against it.

    ``budget``: calls in flight at the cap after the step, which the quota has to allow.
    """

    levels: tuple[Level, ...]
    rate_limited: float
    now: int
    to: int
    budget: int
    quota: int
    reasons: tuple[str, ...]

    @property
    def safe(self) -> bool:
        """Whether max_inflight may go up."""
        return self.to > self.now


def advise(calls: Sequence[Call], *, tasks: int, concurrency: int, max_inflight: int, quota: int) -> Advice:
    """Return the advice for a fleet of at most ``tasks`` tasks."""
    levels = tuple(_levels(calls))
    rate_limited = sum(call.rate_limited > 0 for call in calls) / len(calls)
    then = max_inflight * 2
    budget = in_flight(tasks=tasks, concurrency=concurrency, max_inflight=then)
    reasons = tuple(_against(levels, rate_limited, budget, quota))
    return Advice(
        levels=levels,
        rate_limited=rate_limited,
        now=max_inflight,
        to=max_inflight if reasons else then,
        budget=budget,
        quota=quota,
        reasons=reasons,
    )


def _against(levels: Sequence[Level], rate_limited: float, budget: int, quota: int) -> list[str]:
    reasons = []
    if rate_limited > MOST_RATE_LIMITED:
        reasons.append(f"{rate_limited:.2%} of the calls met a 429, more than {MOST_RATE_LIMITED:.1%}")
    told = [level for level in levels if level.calls >= FEWEST_CALLS]
    if not told:
        reasons.append(f"no level has {FEWEST_CALLS} calls yet: measure longer")
    elif told[-1].latency_p50_s > MOST_SLOWER * told[0].latency_p50_s:
        slower = told[-1].latency_p50_s / told[0].latency_p50_s
        reasons.append(
            f"with {told[-1].in_flight} in flight a call takes {slower:.2f} times as long as with "
            f"{told[0].in_flight}: the model queues them"
        )
    if budget > quota:
        reasons.append(f"tasks x concurrency x max_inflight = {budget} > quota_calls = {quota}: lower max_tasks first")
    return reasons


def _levels(calls: Sequence[Call]) -> list[Level]:
    by_level: dict[int, list[Call]] = {}
    for call in calls:
        by_level.setdefault(call.in_flight, []).append(call)
    return [_level(in_flight, by_level[in_flight]) for in_flight in sorted(by_level)]


def _level(in_flight: int, calls: Sequence[Call]) -> Level:
    latencies = sorted(call.latency_s for call in calls)
    return Level(
        in_flight=in_flight,
        calls=len(calls),
        latency_p50_s=median(latencies),
        latency_p95_s=latencies[min(len(latencies) - 1, int(0.95 * len(latencies)))],
        rate_limited=sum(call.rate_limited > 0 for call in calls) / len(calls),
    )
