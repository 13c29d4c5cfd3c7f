"""The options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Stage = Annotated[str, typer.Option(help="A stage of stages.toml.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
Speed = Annotated[float | None, typer.Option(help="Stage seconds in a wall second; stages.toml has the default.")]
WorkloadName = Annotated[str, typer.Option("--workload", help="A shipped workload's name, or a TOML file.")]
Assembly = Annotated[Path | None, typer.Option(help="A cdk.out to read; without one, the app is synthesized.")]
