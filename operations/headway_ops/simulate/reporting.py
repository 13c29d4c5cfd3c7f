"""What a run's report shows, and how its verdict reads."""

from collections.abc import Sequence

from headway_ops.report import Chart, Line, Page, Table, bars, lines
from headway_ops.simulate.outcome import Outcome

_MIN_S = 60.0


def report(stage: str, run: Outcome, others: Sequence[Outcome], bound: Outcome) -> Page:
    """Return the report of a stage's own run, beside other policies' runs of the same jobs and the bound's."""
    every = [run, *others, bound]
    return Page(
        title=f"{stage} under {run.workload}",
        verdict=verdict(stage, run, others, bound),
        summary=_side_by_side(every, bound),
        charts=[*_over_time(run), *_compared([run, *others], bound)],
    )


def verdict(stage: str, run: Outcome, others: Sequence[Outcome], bound: Outcome) -> str:
    """Return one paragraph that says how the run went."""
    sentences = [
        f"Under {run.workload}, {stage} finished {run.jobs_finished:,} of {run.jobs:,} jobs in {run.hours:.1f} hours.",
        f"Nobody waited longer than {duration(run.interactive_wait_max_s)} for an interactive step; heavy work waited "
        f"{duration(run.heavy_wait_p95_s)} at the 95th percentile, and {duration(run.heavy_wait_max_s)} at most.",
        _limit(run, bound),
        f"At most {run.peak_in_flight} of {run.quota} calls were in flight"
        + (", never more than the quota." if not run.over_quota else f", {run.over_quota} times beyond the quota."),
        f"The heavy fleet cost {run.task_h:,.1f} task-hours, {_by_bound(run, bound):.2f} times what the work alone "
        "would fill.",
    ]
    if run.saturated:
        sentences.insert(1, "The stage was saturated: the time to drain ended before the work did.")
    rival = min((o for o in others if not o.saturated and not o.jobs_failed), key=_p95, default=None)
    if rival:
        sentences.append(
            f"Of the other policies {rival.policy} came nearest, with a 95th percentile of "
            f"{duration(rival.heavy_wait_p95_s)} at {_by_bound(rival, bound):.2f} times."
        )
    if run.busy_stops or run.lost:
        sentences.append(f"{run.busy_stops} tasks were stopped at work, and {run.lost} messages began again.")
    return " ".join(sentences)


def duration(seconds: float) -> str:
    """Return a duration in the unit a person would use.

    >>> duration(0.05), duration(42), duration(600), duration(9_000)
    ('0.05 s', '42 s', '10 min', '2.5 h')
    """
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3_600:.1f} h"


def _limit(run: Outcome, bound: Outcome) -> str:
    over_s = run.heavy_wait_p95_s - bound.heavy_wait_p95_s
    if bound.heavy_wait_p95_s > 60 and over_s < 0.1 * bound.heavy_wait_p95_s:
        return (
            "The quota is the limit, not the fleet: with every task there from the start the same work would still "
            f"have waited {duration(bound.heavy_wait_p95_s)}."
        )
    return f"A fleet that knows the future would have saved {duration(max(over_s, 0.0))} of that."


def _p95(outcome: Outcome) -> float:
    return outcome.heavy_wait_p95_s


def _by_bound(run: Outcome, bound: Outcome) -> float:
    return run.unit_h / (bound.call_h / 8)


def _over_time(run: Outcome) -> list[Chart]:
    samples = run.samples
    hours = [sample.at_s / 3_600 for sample in samples]

    def line(name: str, values: Sequence[float]) -> Line:
        return Line(name=name, values=values)

    return [
        lines(
            "Waits",
            "The longest wait of the work that started last.",
            hours,
            [
                line("heavy", _last([sample.waited_s / _MIN_S for sample in samples])),
                line("interactive", _last([sample.interactive_waited_s / _MIN_S for sample in samples])),
            ],
            unit="minutes",
        ),
        lines(
            "Backlog",
            "Messages that wait in each lane; what is in work is not counted.",
            hours,
            [
                line("heavy", [sample.waiting for sample in samples]),
                line("interactive", [sample.interactive for sample in samples]),
            ],
            unit="messages",
            stepped=True,
        ),
        lines(
            "Tasks of the heavy lane",
            "What was desired, what ran, and what was protected because it worked.",
            hours,
            [
                line("desired", [sample.desired for sample in samples]),
                line("running", [sample.running for sample in samples]),
                line("protected", [sample.protected for sample in samples]),
            ],
            unit="tasks",
            stepped=True,
        ),
        lines(
            "Model calls in flight",
            f"The dashed line is the quota of {run.quota} calls.",
            hours,
            [line("in flight", [sample.calls for sample in samples])],
            unit="calls",
            limit=run.quota,
            stepped=True,
        ),
        lines(
            "Cost so far",
            "Task-hours of the heavy lane, from each task's launch to its end.",
            hours,
            [line("task-hours", [sample.task_h for sample in samples])],
            unit="task-hours",
        ),
    ]


def _last(values: Sequence[float]) -> list[float]:
    """Return values with each 0, where nothing started, replaced by the value before it."""
    kept: list[float] = []
    for value in values:
        kept.append(value or (kept[-1] if kept else 0.0))
    return kept


def _compared(runs: Sequence[Outcome], bound: Outcome) -> list[Chart]:
    finished = [run for run in runs if not (run.saturated or run.jobs_failed)]
    return [
        bars(
            "Policies side by side: waits",
            "The 95th percentile of the heavy lane's waits, on the same jobs, for those that finished them all.",
            {run.policy: run.heavy_wait_p95_s / _MIN_S for run in (*finished, bound)},
            unit="minutes",
        ),
        bars(
            "Policies side by side: cost",
            "Task-hours in tasks of eight calls, by those that the calls alone would fill.",
            {run.policy: _by_bound(run, bound) for run in finished},
            unit="times the bound",
        ),
    ]


def _side_by_side(runs: Sequence[Outcome], bound: Outcome) -> Table:
    return Table(
        headings=[
            "policy",
            "jobs done",
            "interactive wait, longest",
            "heavy wait p95",
            "heavy wait, longest",
            "times the bound's task-hours",
            "peak in flight",
            "429s",
            "work lost",
        ],
        rows=[
            [
                run.policy,
                f"{run.jobs_finished:,} of {run.jobs:,}",
                duration(run.interactive_wait_max_s),
                duration(run.heavy_wait_p95_s),
                duration(run.heavy_wait_max_s),
                "1.00" if run is bound else f"{_by_bound(run, bound):.2f}",
                f"{run.peak_in_flight} of {run.quota}",
                f"{run.rate_limited:,}",
                f"{run.lost:,}",
            ]
            for run in runs
        ],
    )
