"""``headway cost``: what a stage costs a month under a workload."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from headway_ops.cli.options import Assembly, Json, Stage, WorkloadName
from headway_ops.costs import Bill, Prices, bill, load_prices
from headway_ops.simulate import simulate, stage_from
from headway_ops.simulate.assembly import of_stage
from headway_ops.simulate.policies import headway
from headway_ops.simulate.workload import load_workload
from stacks.loading import load_stage


def cost(
    stage: Stage = "prod",
    workload: WorkloadName = "steady",
    prices: Annotated[Path | None, typer.Option(help="A price file; without one, the list prices.")] = None,
    assembly: Assembly = None,
    as_json: Json = False,
) -> None:
    """Print what a month of a workload costs: tasks, publisher, CloudWatch, SQS and model calls."""
    asked, priced, model = load_workload(workload), load_prices(prices), load_stage(stage).model
    simulated = stage_from(stage, of_stage(stage, assembly))
    run = simulate(asked, headway(simulated), quota=simulated.quota_calls, seed=1)
    month = bill(simulated, run, model, priced)
    if as_json:
        document = {"as_of": str(priced.as_of), **dataclasses.asdict(month), "total": dataclasses.asdict(month.total)}
        sys.stdout.write(json.dumps(document) + "\n")
    else:
        _show(month, priced)


def _show(month: Bill, prices: Prices) -> None:
    low, expected, high = month.task_h
    table = Table(
        title=f"dollars a month, prices as of {prices.as_of}",
        caption=f"heavy task-hours: {low:,.0f} low, {expected:,.0f} expected, {high:,.0f} high",
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("")
    for heading in ("low", "expected", "high"):
        table.add_column(heading, justify="right")
    for line in (*month.costs, month.total):
        table.add_row(line.name, *(f"{value:,.2f}" for value in (line.low, line.expected, line.high)))
    Console().print(table)
