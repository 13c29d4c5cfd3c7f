"""``headway submit`` and ``headway status``: jobs of a running stage."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table

from headway.jobs.database import connect
from headway.jobs.queries import job_view, list_jobs
from headway.jobs.views import JobSummary, JobView
from headway.producer import Producer, SubmitError
from headway.vision.image import DrawingError
from headway_ops.cli.options import Json, Stage
from headway_ops.connection import connection_to


def submit(
    files: Annotated[list[Path], typer.Argument(help="Drawings, PNG or PDF.")],
    stage: Stage = "local",
    as_json: Json = False,
) -> None:
    """Submit drawings; one that cannot be one is refused with its reason, and the others go on."""
    to = connection_to(stage)
    producer = Producer(to.producer, to.database)
    refused = 0
    for path in files:
        try:
            job_id = producer.submit(path.read_bytes(), path.name)
        except (DrawingError, SubmitError, OSError) as error:
            refused += 1
            reason = error.strerror if isinstance(error, OSError) else error
            sys.stderr.write(f"headway: {path}: {reason}\n")
        else:
            text = json.dumps({"file": str(path), "job": str(job_id)}) if as_json else f"{job_id}  {path}"
            sys.stdout.write(text + "\n")
    if refused:
        raise typer.Exit(1)


def status(
    job: Annotated[str | None, typer.Argument(help="A job's id; without one, all jobs.")] = None,
    stage: Stage = "local",
    as_json: Json = False,
) -> None:
    """Show all jobs, or one with its blocks and results."""
    engine = connect(connection_to(stage).database)
    if job is None:
        show_jobs(list_jobs(engine), as_json)
        return
    try:
        view = job_view(engine, UUID(job))
    except ValueError:
        view = None
    if view is None:
        sys.stderr.write(f"headway: job {job} not found\n")
        raise typer.Exit(1)
    _show(dataclasses.asdict(view), _job_table(view), as_json)


def show_jobs(summaries: list[JobSummary], as_json: bool) -> None:
    """Print jobs as a table, or as JSON."""
    _show([dataclasses.asdict(summary) for summary in summaries], _jobs_table(summaries), as_json)


def _show(values: Any, table: Table, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(values, default=str) + "\n")
    else:
        Console().print(table)


def _jobs_table(summaries: list[JobSummary]) -> Table:
    table = Table()
    for heading in ("job", "name", "status", "steps done", "cost", "reason"):
        table.add_column(heading)
    for job in summaries:
        done = f"{sum(n for status, n in job.steps.items() if status == 'succeeded')} of {sum(job.steps.values())}"
        table.add_row(str(job.id), job.name, job.status, done, f"${job.cost_usd:.4f}", job.reason or "")
    return table


def _job_table(view: JobView) -> Table:
    reason = f": {view.summary.reason}" if view.summary.reason else ""
    table = Table(title=f"{view.summary.name}, {view.summary.status}{reason}", title_justify="left")
    for heading in ("block", "check", "status", "attempt", "result"):
        table.add_column(heading)
    for block in view.blocks:
        for step in block.steps:
            result = json.dumps(step.result) if step.result else step.reason or ""
            table.add_row(str(block.number), step.check_name, step.status, str(step.attempt), result)
    return table
