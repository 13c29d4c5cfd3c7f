"""What a task prints becomes metrics: CloudWatch Logs looks for its embedded metric format in every line that arrives.

Shape: CloudWatch user guide, "Specification: Embedded metric format".
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Datapoint:
    """One value of one metric."""

    namespace: str
    name: str
    dimensions: Mapping[str, str]
    unit: str
    value: float


def datapoints(line: str) -> list[Datapoint]:
    """Return what a printed line measures, each value once for each set of dimensions; any other line has none."""
    if '"_aws"' not in line:  # nearly every line: no reason to parse it
        return []
    try:
        return list(_measured(json.loads(line)))
    except (ValueError, TypeError, LookupError):  # not the format after all: CloudWatch keeps it as text
        return []


def _measured(members: Mapping[str, Any]) -> Iterator[Datapoint]:
    for directive in members["_aws"]["CloudWatchMetrics"]:
        for names in directive["Dimensions"]:
            for metric in directive["Metrics"]:
                held = members[metric["Name"]]
                for value in held if isinstance(held, list) else [held]:
                    yield Datapoint(
                        namespace=directive["Namespace"],
                        name=metric["Name"],
                        dimensions={name: members[name] for name in names},
                        unit=metric.get("Unit", "None"),
                        value=float(value),
                    )
