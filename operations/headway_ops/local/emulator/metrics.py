"""What is measured: datapoints go to the control loop, which alone evaluates alarms, and first polls are events."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ministack.services import cloudwatch
from ministack.services.cloudformation import provisioners

from headway_ops.local.emulator.embedded import datapoints
from headway_ops.loop import MetricKey

if TYPE_CHECKING:
    from headway_ops.local.emulator.conductor import Conductor


def install_polls(sqs: Any, conductor: "Conductor") -> None:
    """Tell when a queue is first asked for messages: that is when its worker consumes, not when its process starts."""
    receive, polled = sqs._HANDLERS["ReceiveMessage"], set[str]()

    async def receive_message(data: dict[str, Any], url: str) -> Any:
        queue = data.get("QueueUrl", url).rpartition("/")[2]
        if queue not in polled:
            polled.add(queue)
            conductor.journal.note("polled", queue)
        return await receive(data, url)

    sqs._HANDLERS["ReceiveMessage"] = receive_message


def install(conductor: "Conductor") -> None:
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


def measure(line: str) -> None:
    """Store what a task has printed as CloudWatch Logs would, where it is a metric line."""
    for point in datapoints(line):
        cloudwatch._store_datum(
            point.namespace, point.name, point.dimensions, time.time(), point.unit, point.value, None, None, None
        )


def install_math() -> None:
    """Let a template have alarms on metric math, which the emulator refuses: they are there, and stay without data.

    They wake people and scale nothing, so that the loop has no use for them.
    """
    record = provisioners._cw_metric_alarm_record

    def alarm_record(name: str, properties: Mapping[str, Any]) -> dict[str, Any]:
        if not properties.get("Metrics"):
            return dict(record(name, properties))
        single = {key: value for key, value in properties.items() if key != "Metrics"}
        alarm = record(name, {**single, "MetricName": "math", "Namespace": "math"})
        return {**alarm, "MetricName": "", "Namespace": "", "Metrics": properties["Metrics"]}

    provisioners._cw_metric_alarm_record = alarm_record
