"""``headway verify``: may a stack be deployed, and did it do what the next one builds on?"""

import dataclasses
import json
import sys
from enum import StrEnum
from typing import Annotated

import typer

from headway_ops.cli.options import Assembly, Json, Stage
from headway_ops.connection import connection_to
from headway_ops.simulate.assembly import of_stage
from headway_ops.verify import Patience, Subject, Verification, verify_after, verify_before
from stacks.loading import load_stage
from stacks.promotion import STACKS

Step = StrEnum("Step", {name.upper(): name for name in STACKS})  # type: ignore[misc]  # its members are data

#: What a deployment has begun ends within this, stage seconds and at least wall seconds.
_WITHIN_S, _WITHIN_WALL_S = 600.0, 60.0


def verify(
    stage: Stage = "local",
    after: Annotated[Step | None, typer.Option(help="The stack that was just deployed.")] = None,
    before: Annotated[Step | None, typer.Option(help="The stack that is to be deployed next.")] = None,
    canary: Annotated[bool, typer.Option(help="Send a message or a job through it; a job costs two calls.")] = True,
    assembly: Assembly = None,
    as_json: Json = False,
) -> None:
    """Prove one step of the promotion on the deployed stage; exit 1 with a line for each thing that is wrong."""
    if (after is None) == (before is None):
        raise typer.BadParameter("say either --after or --before, with a stack")
    settings, connection = load_stage(stage), connection_to(stage)
    templates = of_stage(stage, assembly).templates
    within_s = max(_WITHIN_S / connection.speed, _WITHIN_WALL_S)
    subject = Subject(settings, templates, connection, Patience(within_s))
    with connection.reading():
        if before is not None:
            found = verify_before(subject, before.value)
        else:
            found = verify_after(subject, after.value, canary=canary)  # type: ignore[union-attr]  # one of both is given
    _tell(found, as_json)


def _tell(found: Verification, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(dataclasses.asdict(found)) + "\n")
    else:
        sys.stdout.write("".join(f"{finding}\n" for finding in found.findings))
    for notice in found.notices:
        sys.stderr.write(f"headway: {notice}\n")
    if found.findings:
        raise typer.Exit(1)
