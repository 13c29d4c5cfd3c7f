"""``python -m headway.worker``: consumes one lane.

Exit codes: 0 ended well, 1 a message was taken from its task, 3 configuration, 4 unreachable, 5 a pool that did not
start.

With ``--print-config``, prints what it would run with, and consumes nothing; ``--json`` is for machines.
"""

import argparse
import os
import socket
import sys

import celery

from headway.clock import StageClock
from headway.contract import ContractError, DatabaseSecret, ModelSecret, WorkerEnv
from headway.vision.plugins import PluginError, load_checks, load_splitter
from headway.worker.app import create_app
from headway.worker.boot import UnreachableError, check_surroundings
from headway.worker.configuring import configure
from headway.worker.effective import effective
from headway.worker.logs import log_to_stderr
from headway.worker.resources import Resources


def main() -> int:
    """Check the surroundings, then work until a signal ends it."""
    parser = argparse.ArgumentParser("headway worker", description="Consume one lane, as the environment says.")
    parser.add_argument("--print-config", action="store_true", help="print each effective value and its source")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    asked = parser.parse_args()
    try:
        env = WorkerEnv.from_env(os.environ)
        if asked.print_config:
            return _print_config(env, as_json=asked.json)
        database, model = DatabaseSecret.from_env(os.environ), ModelSecret.from_env(os.environ)
        resources = Resources(
            env, database, model, StageClock(env.speed), splitter=load_splitter(), checks=load_checks()
        )
        log_to_stderr()
        app = create_app(resources)
        check_surroundings(env, database, resources.clock)
    except (ContractError, PluginError, UnreachableError) as error:
        sys.stderr.write(f"headway.worker: {error}\n")
        return 4 if isinstance(error, UnreachableError) else 3
    worker = app.Worker(
        hostname=f"{env.lane}@{socket.gethostname()}",
        pool_cls=env.pool,
        concurrency=env.concurrency,
        queues=[env.lane],
        loglevel="INFO",
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        quiet=True,
    )
    worker.start()
    return worker.exitcode or 0


def _print_config(env: WorkerEnv, *, as_json: bool) -> int:
    app = celery.Celery("headway")
    configure(app, env)
    found = effective(app, env, os.environ)
    sys.stdout.write((found.to_json() if as_json else found.to_text()) + "\n")
    for warning in found.warnings:
        sys.stderr.write(f"warning: {warning}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
