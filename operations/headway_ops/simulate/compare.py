"""Policies side by side: each figure's mean over seeds, with its 95% interval."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from headway_ops.simulate.outcome import Outcome

#: Student's t, two-sided 95%, by degrees of freedom; beyond the table it is the normal's 1.96 within 2%.
_T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 7: 2.365, 9: 2.262, 11: 2.201, 14: 2.145, 19: 2.093, 29: 2.045}


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A mean over runs, and half the width of its 95% interval."""

    mean: float
    half: float


def interval(values: Sequence[float]) -> Interval:
    """Return the interval of values of independent runs; one run has no width to tell."""
    if len(values) < 2:
        return Interval(mean=values[0], half=0.0)
    degrees = len(values) - 1
    t = _T[max(known for known in _T if known <= degrees)]
    return Interval(mean=fmean(values), half=t * stdev(values) / math.sqrt(len(values)))


#: What is compared, by name: from one run and the bound's run of the same seed.
MEASURES: Mapping[str, Callable[[Outcome, Outcome], float]] = {
    "interactive_wait_max_s": lambda run, _: run.interactive_wait_max_s,
    "heavy_wait_p95_s": lambda run, _: run.heavy_wait_p95_s,
    "heavy_wait_max_s": lambda run, _: run.heavy_wait_max_s,
    "heavy_wait_p95_over_bound_s": lambda run, bound: run.heavy_wait_p95_s - bound.heavy_wait_p95_s,
    "makespan_p95_by_bound": lambda run, bound: run.makespan_p95_s / bound.makespan_p95_s,
    "task_hours_by_bound": lambda run, bound: run.unit_h / (bound.call_h / 8),
    "task_h": lambda run, _: run.unit_h,
    "first_change_s": lambda run, _: run.first_change_s or math.nan,
    "peak_in_flight": lambda run, _: run.peak_in_flight,
    "lost": lambda run, _: run.lost,
    "rate_limited": lambda run, _: run.rate_limited,
    "over_quota": lambda run, _: run.over_quota,
    "jobs_failed": lambda run, _: run.jobs_failed,
    "under_busy_s": lambda run, _: run.under_busy_s,
    "saturated": lambda run, _: run.saturated,
}


def compare(runs: Sequence[Outcome], bounds: Sequence[Outcome]) -> dict[str, Interval]:
    """Return each measure of a policy's runs against the bound's runs of the same seeds; NaN is left out."""
    compared = {}
    for name, measure in MEASURES.items():
        values = [measure(run, bound) for run, bound in zip(runs, bounds, strict=True)]
        known = [value for value in values if not math.isnan(value)]
        if known:
            compared[name] = interval(known)
    return compared
