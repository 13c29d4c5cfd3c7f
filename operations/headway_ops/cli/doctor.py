"""``headway doctor``: every setting as it is meant, deployed and in effect."""

import dataclasses
import json
import sys

import typer
from rich.console import Console
from rich.table import Table

from headway_ops.cli.options import Assembly, Json, Stage
from headway_ops.connection import connection_to
from headway_ops.doctor import Diagnosis, examine
from headway_ops.simulate.assembly import of_stage
from stacks.loading import load_stage

_COLUMNS = ("stages.toml", "template", "in service", "worker", "queue", "scalable target")


def doctor(stage: Stage = "local", assembly: Assembly = None, as_json: Json = False) -> None:
    """Compare stages.toml, the templates, what is deployed and what runs; exit 1 where they differ."""
    settings = load_stage(stage)
    connection = connection_to(stage)
    templates = of_stage(stage, assembly).templates
    with connection.reading():
        found = examine(settings, templates, connection.deployed())
    if as_json:
        sys.stdout.write(json.dumps(dataclasses.asdict(found)) + "\n")
    else:
        Console().print(_table(found))
        sys.stdout.write("".join(f"{finding}\n" for finding in found.findings))
    for notice in found.notices:
        sys.stderr.write(f"headway: {notice}\n")
    if found.findings:
        raise typer.Exit(1)


def _table(found: Diagnosis) -> Table:
    table = Table()
    table.add_column("where")
    table.add_column("setting", no_wrap=True)
    for heading in ("stages.toml", "template", "in service", "effective"):
        table.add_column(heading)
    for row in found.rows:
        if row.source:
            meant, template, service, *rest = (row.values.get(column, "") for column in _COLUMNS)
            table.add_row(row.where, row.source, meant, template, service, "".join(rest))
    return table
