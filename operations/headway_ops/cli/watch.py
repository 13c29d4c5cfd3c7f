"""``headway cancel``, ``headway jobs`` and ``headway reconcile``: what became of jobs, and an end for some of them."""

import dataclasses
import getpass
import json
import re
import sys
from typing import Annotated
from uuid import UUID

import typer

from headway.jobs import JobStatus, Outcome, cancel_job, connect
from headway.jobs.queries import list_jobs
from headway.reconciler.run import reconcile as run
from headway_ops.cli.jobs import show_jobs
from headway_ops.cli.options import Json, Stage
from headway_ops.connection import connection_to

_UNITS_S = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def cancel(
    jobs: Annotated[list[UUID], typer.Argument(help="Ids of jobs.")],
    stage: Stage = "local",
    reason: Annotated[str, typer.Option(help="Why; it stays with the job.")] = "canceled by hand",
    as_json: Json = False,
) -> None:
    """Cancel jobs; one that is unknown or finished is said so, and the others are canceled."""
    engine = connect(connection_to(stage).database)
    refused = False
    for job in jobs:
        ending = cancel_job(engine, job, actor=getpass.getuser(), reason=reason)
        refused |= ending.outcome in (Outcome.UNKNOWN, Outcome.FINISHED)
        if as_json:
            sys.stdout.write(json.dumps({"job": job, **dataclasses.asdict(ending)}, default=str) + "\n")
        elif ending.outcome is Outcome.UNKNOWN:
            sys.stderr.write(f"headway: job {job} not found\n")
        elif ending.outcome is Outcome.FINISHED:
            sys.stderr.write(f"headway: job {job} already {ending.status}\n")
        elif ending.end is not None:
            already = "already " if ending.outcome is Outcome.ALREADY else ""
            sys.stdout.write(f"{job}  {already}canceled by {ending.end.actor}: {ending.end.reason}\n")
    if refused:
        raise typer.Exit(1)


def duration_s(text: str) -> float:
    """Return a duration such as 90s, 30m, 2h or 7d in seconds.

    >>> duration_s("30m"), duration_s("1.5h")
    (1800.0, 5400.0)
    """
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    if parts is None:
        raise typer.BadParameter(f"{text!r} is no duration; write 90s, 30m, 2h or 7d")
    return float(parts[1]) * _UNITS_S[parts[2]]


def jobs(
    stage: Stage = "local",
    status: Annotated[JobStatus | None, typer.Option(help="Only jobs in this state.")] = None,
    older_than: Annotated[
        float | None, typer.Option(parser=duration_s, metavar="DURATION", help="Only jobs older than 30m, 2h, 7d.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List jobs, the newest first; ages are by the database's clock."""
    engine = connect(connection_to(stage).database)
    show_jobs(list_jobs(engine, status=status, older_than_s=older_than), as_json)


def reconcile(
    stage: Stage = "local",
    once: Annotated[bool, typer.Option("--once", help="Do what the stage's schedule does, now.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    as_json: Json = False,
) -> None:
    """Cancel silent jobs, send lost messages once more, and fail what ended among the dead letters."""
    if once == dry_run:
        raise typer.BadParameter("say either --once or --dry-run")
    to = connection_to(stage)
    counts = run(to.reconciler, to.database, dry_run=dry_run)
    if as_json:
        sys.stdout.write(json.dumps(dataclasses.asdict(counts), default=str) + "\n")
    elif dry_run:
        for job in counts.would_sweep:
            sys.stdout.write(f"{job}  would be canceled: no sign of life\n")
        for lost in counts.would_requeue:
            sys.stdout.write(f"{lost}  would be sent once more\n")
    else:
        done = f"{counts.swept} canceled, {counts.reprieved} reprieved, {counts.requeued} sent once more"
        sys.stdout.write(f"{done}, {counts.buried} failed as dead letters, {counts.errors} errors\n")
    if counts.errors:
        raise typer.Exit(1)
