"""The command line's frame: its commands, and one line and one exit code for whatever goes wrong.

Exit codes: 0 ok, 1 findings, 2 usage, 3 configuration, 4 unreachable, 130 interrupted.
"""

import sys

import typer

from headway.contract import ContractError
from headway.jobs.database import JobStoreError
from headway_ops.cli import (
    cost,
    database,
    demo,
    doctor,
    jobs,
    local,
    plan,
    ramp,
    rollout,
    simulate,
    verify,
    watch,
    worker,
    workflow,
)
from headway_ops.costs import PricesError
from headway_ops.local.errors import StageError
from headway_ops.local.interrupts import raise_on_signals
from headway_ops.ramp import CallLogError
from headway_ops.rollout import RolloutError
from headway_ops.simulate.workload import WorkloadError
from stacks.loading import SettingsError

app = typer.Typer(
    name="headway",
    help="Makes a slow queue keep up.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo.demo)
app.command()(local.up)
app.command()(local.down)
app.command()(jobs.submit)
app.command()(jobs.status)
app.command()(watch.jobs)
app.command()(watch.cancel)
app.command()(watch.reconcile)
app.add_typer(database.app, name="db")
app.add_typer(rollout.app, name="rollout")
app.command()(verify.verify)
app.command()(doctor.doctor)
app.command("simulate")(simulate.simulate_command)
app.command()(plan.plan)
app.command()(ramp.ramp)
app.command()(cost.cost)
app.command("workflow")(workflow.workflow_command)
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(worker.worker)


def main() -> None:
    """Run the command line and exit; an interrupt is exit 130, which typer sees to."""
    raise_on_signals()
    try:
        app()
    except (SettingsError, ContractError, WorkloadError, PricesError, CallLogError, RolloutError) as error:
        _fail(error, 3)
    except StageError as error:
        _fail(error, error.exit_code)
    except JobStoreError as error:
        _fail(error, 4)


def _fail(error: object, code: int) -> None:
    sys.stderr.write(f"headway: {error}\n")
    sys.exit(code)
