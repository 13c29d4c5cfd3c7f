"""``headway ramp``: whether max_inflight may go up, from the per-call logs."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from headway_ops.cli.options import Json, Stage
from headway_ops.ramp import Advice, advise, read_calls
from stacks.loading import load_stage


def ramp(
    logs: Annotated[list[Path], typer.Argument(help="Logs of calls: a worker's lines, or CloudWatch Logs' export.")],
    stage: Stage = "prod",
    as_json: Json = False,
) -> None:
    """Say whether a stage's max_inflight may double: 429s, latency by calls in flight, and the projected budget."""
    settings = load_stage(stage)
    heavy = settings.services.heavy
    advice = advise(
        [call for log in logs for call in read_calls(log)],
        tasks=settings.plan.cap,
        concurrency=heavy.concurrency,
        max_inflight=heavy.max_inflight,
        quota=settings.model.quota_calls,
    )
    if as_json:
        sys.stdout.write(json.dumps({**dataclasses.asdict(advice), "safe": advice.safe}) + "\n")
    else:
        Console().print(_table(advice))
        sys.stdout.write(_verdict(advice))
    if not advice.safe:
        raise typer.Exit(1)


def _table(advice: Advice) -> Table:
    table = Table()
    for heading in ("in flight", "calls", "p50, s", "p95, s", "met a 429"):
        table.add_column(heading, justify="right")
    for level in advice.levels:
        table.add_row(
            str(level.in_flight),
            f"{level.calls:,}",
            f"{level.latency_p50_s:,.1f}",
            f"{level.latency_p95_s:,.1f}",
            f"{level.rate_limited:.2%}",
        )
    return table


def _verdict(advice: Advice) -> str:
    budget = f"{advice.budget} of {advice.quota} calls at the cap"
    if advice.safe:
        return f"max_inflight may go from {advice.now} to {advice.to}: {budget}\n"
    return f"keep max_inflight = {advice.now}: {'; '.join(advice.reasons)}\n"
