"""The scaling benchmark's report as a page: goals first, then every policy under every workload."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headway_ops.report import Chart, Page, Table, bars

#: What is shown of each policy: the measure's name, its heading, and what its seconds are divided by.
_SHOWN = (
    ("interactive_wait_max_s", "interactive wait, longest, s", 1),
    ("heavy_wait_p95_s", "heavy wait p95, min", 60),
    ("heavy_wait_max_s", "heavy wait, longest, min", 60),
    ("makespan_p95_by_bound", "makespan p95 / G", 1),
    ("task_hours_by_bound", "task-hours / G", 1),
    ("peak_in_flight", "peak in flight", 1),
    ("rate_limited", "429s", 1),
    ("lost", "messages begun again", 1),
    ("under_busy_s", "desired under busy, s", 1),
)


def page(report: Mapping[str, Any]) -> Page:
    """Return the page of a report.json."""
    goals, policies = report["goals"], report["policies"]
    missed = [goal["name"] for goal in goals if not goal["met"]]
    verdict = (
        f"{len(goals) - len(missed)} of {len(goals)} goals are met, "
        f"over {len(report['seeds'])} seeds that no tuning has seen. "
        + ("" if not missed else f"Missed: {'; '.join(missed)}. ")
        + "G is the clairvoyant: every call of the quota from the start, paid only while it works."
    )
    rows = [
        [goal["name"], f"{goal['reached']:,g}", f"{goal['goal']:,g}", "yes" if goal["met"] else "no"] for goal in goals
    ]
    return Page(
        title="Does the scaling keep up?",
        verdict=verdict,
        summary=Table(headings=["goal", "reached", "asked for", "met"], rows=rows),
        charts=list(_charts(policies)),
    )


def _charts(policies: Mapping[str, Any]) -> Iterator[Chart]:
    for workload in next(iter(policies.values())):
        finished = {
            name: found[workload]
            for name, found in policies.items()
            if not (found[workload]["saturated"]["mean"] or found[workload]["jobs_failed"]["mean"])
        }
        chart = bars(
            f"{workload}: the heavy lane's wait",
            "The 95th percentile, the mean over seeds, of the policies that finished every job.",
            {name: measures["heavy_wait_p95_s"]["mean"] / 60 for name, measures in finished.items()},
            unit="minutes",
        )
        yield Chart(title=chart.title, says=chart.says, plot=chart.plot, table=_table(policies, workload))


def _table(policies: Mapping[str, Any], workload: str) -> Table:
    def cells(measures: Mapping[str, Mapping[str, float]]) -> Sequence[str]:
        return [_cell(measures.get(name), divisor) for name, _, divisor in _SHOWN]

    return Table(
        headings=["policy", *(heading for _, heading, _ in _SHOWN)],
        rows=[[name, *cells(found[workload])] for name, found in policies.items()],
    )


def _cell(interval: Mapping[str, float] | None, divisor: float) -> str:
    """Return a mean and half the width of its 95% interval."""
    if interval is None:
        return "-"
    return f"{interval['mean'] / divisor:,.2f} ± {interval['half'] / divisor:,.2f}"
