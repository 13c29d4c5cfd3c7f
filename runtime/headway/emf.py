"""Metric lines in CloudWatch's embedded metric format: CloudWatch Logs makes metrics of what a process prints."""

import json
import os
from collections.abc import Mapping

import botocore
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit
from aws_lambda_powertools.shared import user_agent

# Its import makes every later AWS call of the process carry its name, for 1% of what a message costs a worker.
botocore.unregister_initializer(user_agent._initializer_botocore_session)

#: A metric's unit and value, by its name.
Metrics = Mapping[str, tuple[MetricUnit, float]]


def metric_line(
    namespace: str, dimensions: Mapping[str, str], values: Metrics, about: Mapping[str, object] | None = None
) -> str:
    """Return the line, without its newline; ``about`` is found in the log, and is no dimension."""
    metrics = EphemeralMetrics(namespace=namespace)
    for name, value in dimensions.items():
        metrics.add_dimension(name, value)
    for name, (unit, number) in values.items():
        metrics.add_metric(name, unit, number)
    for name, text in (about or {}).items():
        metrics.add_metadata(name, text)
    return json.dumps(metrics.serialize_metric_set(), separators=(",", ":"))


def write_line(line: str) -> None:
    """Write a line to stdout in one piece: the processes of a pool share it.

    POSIX: a write of at most PIPE_BUF (4,096) bytes to a pipe is atomic.
    """
    os.write(1, line.encode() + b"\n")
