"""``headway db upgrade`` and ``headway db check``: is the job store the one that this release needs?"""

import json
import sys

import typer

from headway.jobs import connect
from headway.jobs.migrate import pending
from headway.jobs.migrate import upgrade as migrate
from headway_ops.cli.options import Json, Stage
from headway_ops.connection import connection_to

app = typer.Typer(help="Migrate a stage's job store, or see whether it needs to be.", no_args_is_help=True)


@app.command()
def upgrade(stage: Stage = "local") -> None:
    """Bring the job store to this release's revision; a deployment does so by itself."""
    to = connection_to(stage)
    migrate(to.database, to.owner)


@app.command()
def check(stage: Stage = "local", as_json: Json = False) -> None:
    """List the revisions that the job store has not seen; exit 1 where there are any."""
    engine = connect(connection_to(stage).database)
    missing = pending(engine)
    if as_json:
        sys.stdout.write(json.dumps({"pending": missing}) + "\n")
    else:
        sys.stdout.write("".join(f"{revision}\n" for revision in missing))
    if missing:
        raise typer.Exit(1)
