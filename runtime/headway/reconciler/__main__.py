"""``python -m headway.reconciler``: one run, as the stage's schedule starts it. Exit codes: 0, 3 configuration, 4."""

import logging
import os
import sys

from aws_lambda_powertools.metrics import MetricUnit

from headway import emf
from headway.contract import ContractError, DatabaseSecret, ReconcilerEnv
from headway.jobs import JobStoreError
from headway.reconciler.counts import Counts
from headway.reconciler.run import reconcile


def main() -> int:
    """Run once and write one metric line in CloudWatch's embedded metric format."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("botocore").setLevel(logging.WARNING)
    try:
        env, database = ReconcilerEnv.from_env(os.environ), DatabaseSecret.from_env(os.environ)
        counts = reconcile(env, database)
    except (ContractError, JobStoreError) as error:
        sys.stderr.write(f"headway.reconciler: {error}\n")
        return 3 if isinstance(error, ContractError) else 4
    sys.stdout.write(metric_line(env, counts) + "\n")
    return 0


def metric_line(env: ReconcilerEnv, counts: Counts) -> str:
    """Return the run's metrics, without a newline; a run that ended counts as one."""
    counted = {
        "ReconcilerRuns": 1,
        "JobsSwept": counts.swept,
        "JobsReprieved": counts.reprieved,
        "MessagesRequeued": counts.requeued,
        "StepsBuried": counts.buried,
        "ReconcilerErrors": counts.errors,
    }
    values = {name: (MetricUnit.Count, count) for name, count in counted.items()}
    return emf.metric_line(env.metric_namespace, {"Stage": env.stage}, values)


if __name__ == "__main__":
    sys.exit(main())
