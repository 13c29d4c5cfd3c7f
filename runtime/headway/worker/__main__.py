"""``python -m headway.worker``: consumes one lane. Exit codes: 0 ended well, 3 configuration, 4 unreachable."""

import gc
import os
import socket
import sys

from headway.clock import StageClock
from headway.contract import ContractError, DatabaseSecret, ModelSecret, WorkerEnv
from headway.vision.plugins import PluginError, load_checks, load_splitter
from headway.worker.app import create_app
from headway.worker.boot import UnreachableError, check_surroundings
from headway.worker.logs import log_to_stderr
from headway.worker.resources import Resources


def main() -> int:
    """Check the surroundings, then work until a signal ends it."""
    try:
        env = WorkerEnv.from_env(os.environ)
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
    # What exists now is left alone by the collector, or its first run in each child would copy all shared memory.
    gc.freeze()
    worker.start()
    return worker.exitcode or 0


if __name__ == "__main__":
    sys.exit(main())
