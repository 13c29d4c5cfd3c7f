"""``headway rollout fast-lane``: one step of the rollout switch, as a change of stages.toml."""

import difflib
import sys
from enum import StrEnum
from typing import Annotated

import typer

from headway_ops.cli.options import Assembly, Stage
from headway_ops.connection import connection_to
from headway_ops.promotion import promotion_of
from headway_ops.rollout import RolloutError, edited, obstacles, refusal
from headway_ops.rollout.steps import POSITIONS, needs_a_look
from headway_ops.simulate.assembly import of_stage
from stacks.loading import STAGES_FILE, load_stage, load_stages

app = typer.Typer(help="Move a stage's rollout switch.", no_args_is_help=True)

Position = StrEnum("Position", {name.upper(): name for name in POSITIONS})  # type: ignore[misc]  # its members are data


@app.callback()
def rollout() -> None:
    """Move a stage's rollout switch."""


@app.command()
def fast_lane(
    to: Annotated[Position, typer.Argument(help="off: no lane; ready: it has workers; on: producers use it.")],
    stage: Stage = "local",
    assembly: Assembly = None,
) -> None:
    """Set fast_lane in stages.toml, show the change, and say what to deploy; exit 1 where the stage is not ready."""
    now = load_stage(stage).fast_lane
    if now == to:
        sys.stderr.write(f"headway: fast_lane of {stage} is {now!r} already\n")
        return
    if reason := refusal(now, to.value):
        raise RolloutError(reason)
    if needs_a_look(now, to.value):
        connection = connection_to(stage)
        templates = of_stage(stage, assembly).templates
        with connection.reading():
            deployed = connection.deployed()
            found = list(obstacles(deployed, promotion_of(deployed, templates), to.value))
        sys.stdout.write("".join(f"{each}\n" for each in found))
        if found:
            raise typer.Exit(1)
    _change(stage, to.value)


def _change(stage: str, to: str) -> None:
    before = STAGES_FILE.read_text(encoding="utf-8")
    after = edited(before, stage, to)
    STAGES_FILE.write_text(after, encoding="utf-8")
    try:
        load_stages()
    except ValueError:
        STAGES_FILE.write_text(before, encoding="utf-8")
        raise
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    sys.stdout.writelines(difflib.unified_diff(old, new, STAGES_FILE.name, STAGES_FILE.name))
    sys.stderr.write(f"headway: next: cdk deploy '{stage}/*', stack by stack with headway verify between\n")
