"""Datapoints go to the control loop as well, and the control loop alone evaluates alarms."""

from typing import Any

from headway_ops.local.emulator.conductor import Conductor
from headway_ops.loop import MetricKey


def install(cloudwatch: Any, conductor: Conductor) -> None:
    """Feed the loop with what is published, and silence the emulator's own evaluation.

    Its own evaluation runs only when something is published, ignores dimensions, and knows neither M of N nor
    missing data.
    """
    store = cloudwatch._store_datum

    def store_datum(namespace: str, name: str, dimensions: dict[str, str], *rest: Any) -> None:
        store(namespace, name, dimensions, *rest)
        _at, _unit, value, values, _counts, statistics = rest
        key = MetricKey(namespace=namespace, name=name, dimensions=frozenset(dimensions.items()))
        if statistics is not None:
            conductor.put(key, float(statistics["Maximum"]))
        for number in values if values is not None else [value]:
            if number is not None:
                conductor.put(key, float(number))

    cloudwatch._store_datum = store_datum
    cloudwatch._evaluate_alarm = lambda alarm: None
