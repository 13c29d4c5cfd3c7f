"""``python -m headway.reconciler``: one run, as the stage's schedule starts it. Exit codes: 0, 3 configuration, 4."""

import json
import logging
import os
import sys

from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

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
    metrics = EphemeralMetrics(namespace=env.metric_namespace)
    metrics.add_dimension("Stage", env.stage)
    metrics.add_metric("ReconcilerRuns", MetricUnit.Count, 1)
    metrics.add_metric("JobsSwept", MetricUnit.Count, counts.swept)
    metrics.add_metric("JobsReprieved", MetricUnit.Count, counts.reprieved)
    metrics.add_metric("MessagesRequeued", MetricUnit.Count, counts.requeued)
    metrics.add_metric("StepsBuried", MetricUnit.Count, counts.buried)
    metrics.add_metric("ReconcilerErrors", MetricUnit.Count, counts.errors)
    return json.dumps(metrics.serialize_metric_set(), separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main())
