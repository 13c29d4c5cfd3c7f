"""``headway plan``: which numbers of a stage meet a wait for the least money."""

import dataclasses
import json
import re
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from headway_ops.cli.options import Assembly, Json, Stage, WorkloadName
from headway_ops.costs import load_prices
from headway_ops.local.errors import StageError
from headway_ops.planning import Ask, Scored, Scorer, diff, propose, quota_for
from headway_ops.simulate import stage_from
from headway_ops.simulate.assembly import of_stage
from headway_ops.simulate.workload import load_workload
from stacks.loading import load_stage

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|m|h)")
_SECONDS = {"s": 1, "m": 60, "h": 3_600}
_ROWS = 6


def plan(
    stage: Stage = "prod",
    workload: WorkloadName = "steady",
    max_wait: Annotated[str, typer.Option(help="The heavy lane's wait at the 95th percentile: 30s, 5m, 1h.")] = "5m",
    budget: Annotated[float, typer.Option(min=1, help="Dollars a month, without the model's own price.")] = 2_000.0,
    assembly: Assembly = None,
    as_json: Json = False,
) -> None:
    """Propose a stage's numbers as a change of stages.toml, with what each choice costs and waits."""
    ask = Ask(max_wait_s=_seconds(max_wait), budget_usd=budget)
    asked, model = load_workload(workload), load_stage(stage).model
    simulated = stage_from(stage, of_stage(stage, assembly))
    scorer = Scorer(stage=simulated, workload=asked, model=model, prices=load_prices())
    best = propose(scorer, ask)
    quota = None if best.meets(ask) else quota_for(simulated, asked, ask.max_wait_s)
    change = diff(simulated, best.candidate)
    if as_json:
        document = {**dataclasses.asdict(best), "meets": best.meets(ask), "diff": change, "quota_needed": quota}
        sys.stdout.write(json.dumps(document) + "\n")
    else:
        sys.stdout.write(change or f"nothing to change in [stages.{stage}]\n")
        Console().print(_table(scorer.tried, best, ask))
    if not best.meets(ask):
        sys.stderr.write(f"headway: {_shortfall(best, ask, simulated.quota_calls, quota)}\n")
        raise typer.Exit(1)


def _seconds(text: str) -> float:
    match = _DURATION.fullmatch(text)
    if match is None or float(match[1]) == 0:
        raise StageError(f"max-wait = {text!r}: must be a duration above 0 as 30s, 5m or 1h; set 5m")
    return float(match[1]) * _SECONDS[match[2]]


def _shortfall(best: Scored, ask: Ask, has: int, quota: int | None) -> str:
    nearest = f"the nearest is p95 {best.wait_s:,.0f} s at ${best.month_usd:,.0f} a month"
    if quota:
        return (
            f"the quota is the limit, not the fleet: with {has} calls in flight no fleet keeps to "
            f"{ask.max_wait_s:,.0f} s, about {quota:,} are needed; {nearest}"
        )
    return f"no choice keeps to {ask.max_wait_s:,.0f} s within ${ask.budget_usd:,.0f}; {nearest}"


def _table(tried: list[Scored], best: Scored, ask: Ask) -> Table:
    table = Table(title="choices, nearest first", title_justify="left")
    for heading in ("slots", "inflight", "tasks", "spare", "beta", "publish, s", "wait p95, s", "$ a month"):
        table.add_column(heading, justify="right")
    ranked = sorted((scored for scored in tried if scored is not best), key=lambda scored: scored.rank(ask))
    for scored in (best, *ranked[: _ROWS - 1]):
        choice = scored.candidate
        table.add_row(
            str(choice.concurrency),
            str(choice.max_inflight),
            f"{choice.min_tasks}..{choice.max_tasks or 'quota'}",
            f"{choice.spare_slots:g}",
            f"{choice.burst_beta:g}",
            str(choice.publish_every_s),
            f"{scored.wait_s:,.1f}",
            f"{scored.month_usd:,.0f}",
        )
    return table
