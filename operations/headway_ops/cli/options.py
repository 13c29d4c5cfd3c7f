"""The options that several commands share."""

from typing import Annotated

import typer

Stage = Annotated[str, typer.Option(help="A stage of stages.toml.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
Speed = Annotated[float | None, typer.Option(help="Stage seconds in a wall second; stages.toml has the default.")]
