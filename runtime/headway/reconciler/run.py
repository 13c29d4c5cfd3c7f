"""One run: dead letters first, so that nothing of theirs is sent again; then what is lost; then what is silent."""

import logging

import botocore.exceptions
import sqlalchemy as sa

from headway.clock import StageClock
from headway.contract import DatabaseSecret, ReconcilerEnv
from headway.jobs import JobStoreError, connect
from headway.jobs.database import first_line
from headway.reconciler.burials import bury
from headway.reconciler.counts import Counts
from headway.reconciler.lanes import Lanes
from headway.reconciler.lost import requeue, would_requeue
from headway.reconciler.sweep import sweep, would_sweep

logger = logging.getLogger(__name__)

#: A sender gets no less than this in wall seconds between its row and its message, however fast the stage runs.
_MIN_LEASE_WALL_S = 6.0
#: Nor is a job silent before so many wall seconds: a laptop that is short of CPU holds every sign of life up.
_MIN_IDLE_WALL_S = 60.0
_AWS_ERRORS = (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError)


def reconcile(env: ReconcilerEnv, database: DatabaseSecret, *, dry_run: bool = False) -> Counts:
    """Run once, or only say what a run would do.

    Where the queues do not answer, silent jobs are left alone as well: whether a job waits for its turn is not known.

    Raises:
        ContractError: the stage's main lane has no queue.
        JobStoreError: PostgreSQL does not answer.
    """
    engine, lanes, counts = connect(database), Lanes(env), Counts()
    clock = StageClock(env.speed)
    idle_s = clock.wall(env.idle_limit_s, at_least=_MIN_IDLE_WALL_S)
    lease_s = clock.wall(env.lease_s, at_least=_MIN_LEASE_WALL_S)
    reason = f"no sign of life for {env.idle_limit_s / 60:g} min"
    try:
        if not dry_run:
            bury(engine, lanes, counts)
        empty = lanes.empty()
        if dry_run:
            would_requeue(engine, counts, lanes_empty=empty, lease_s=lease_s)
            would_sweep(engine, counts, lanes_empty=empty, idle_s=idle_s)
        else:
            requeue(engine, lanes, counts, lanes_empty=empty, lease_s=lease_s)
            sweep(engine, counts, lanes_empty=empty, idle_s=idle_s, reason=reason)
    except sa.exc.OperationalError as error:
        raise JobStoreError(f"job store: {first_line(error)}") from None
    except _AWS_ERRORS as error:
        logger.warning("the lanes do not answer: %s", error)
        counts.errors += 1
    finally:
        lanes.close()
        engine.dispose()
    return counts
