"""``headway simulate``: a day of a stage in a second, from the template that is about to be deployed."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from headway_ops.cli.options import Assembly, Json, Stage, WorkloadName
from headway_ops.simulate import Outcome, simulate, stage_from
from headway_ops.simulate.assembly import of_stage
from headway_ops.simulate.policies import clairvoyant, headway, peers
from headway_ops.simulate.reporting import duration, report
from headway_ops.simulate.workload import load_workload


def simulate_command(
    stage: Stage = "prod",
    workload: WorkloadName = "steady",
    seed: Annotated[int, typer.Option(min=0, help="Which jobs, and which of AWS's delays.")] = 1,
    assembly: Assembly = None,
    html: Annotated[Path | None, typer.Option(help="Write a report with charts, other policies beside it.")] = None,
    as_json: Json = False,
) -> None:
    """Run a stage's own template on virtual time, and say how long work waits and what it costs."""
    asked = load_workload(workload)
    simulated = stage_from(stage, of_stage(stage, assembly))
    outcome = simulate(asked, headway(simulated), quota=simulated.quota_calls, seed=seed, sampled=html is not None)
    if html:
        others = [simulate(asked, policy, quota=simulated.quota_calls, seed=seed) for policy in peers(simulated)]
        bound = simulate(asked, clairvoyant(simulated), quota=simulated.quota_calls, seed=seed)
        report(stage, outcome, others, bound).write(html)
    sys.stdout.write(json.dumps(outcome.figures()) + "\n" if as_json else summary(outcome))
    for finding in outcome.findings:
        sys.stderr.write(f"headway: {finding}\n")
    if outcome.findings:
        raise typer.Exit(1)


def summary(outcome: Outcome) -> str:
    """Return an outcome as a few lines of text."""
    over = f"{outcome.over_quota} beyond, {outcome.rate_limited} rate limited"
    return "\n".join(
        (
            f"jobs      {outcome.jobs_finished} of {outcome.jobs} done in {outcome.hours:.1f} h; "
            f"95% within {duration(outcome.makespan_p95_s)} of their arrival",
            f"waits     interactive: p95 {duration(outcome.interactive_wait_p95_s)}, "
            f"longest {duration(outcome.interactive_wait_max_s)}; "
            f"heavy: p95 {duration(outcome.heavy_wait_p95_s)}, longest {duration(outcome.heavy_wait_max_s)}",
            f"calls     at most {outcome.peak_in_flight} of {outcome.quota} in flight; {over}",
            f"tasks     up to {outcome.peak_tasks}; {outcome.busy_stops} stopped while busy; "
            f"desired under the busy ones for {outcome.under_busy_s:.0f} s",
            f"cost      {outcome.task_h:.1f} heavy task-hours for {outcome.call_h:.1f} call-hours, "
            f"{outcome.fast_task_h:.1f} interactive ones",
            "",
        )
    )
