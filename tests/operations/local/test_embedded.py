"""A printed line as CloudWatch reads it: what is measured, by which dimensions, how often."""

import json

import pytest

from headway_ops.local.emulator.embedded import Datapoint, datapoints

#: The example of the CloudWatch user guide, "Specification: Embedded metric format", with one metric more.
EXAMPLE = {
    "_aws": {
        "Timestamp": 1574109732004,
        "CloudWatchMetrics": [
            {
                "Namespace": "lambda-function-metrics",
                "Dimensions": [["functionVersion"], []],
                "Metrics": [{"Name": "time", "Unit": "Milliseconds"}, {"Name": "sizes"}],
            }
        ],
    },
    "functionVersion": "$LATEST",
    "time": 100,
    "sizes": [1, 2],
    "requestId": "989ffbf8-9ace-4817-a57c-e4dd734019ee",
}


def test_a_line_measures_each_value_for_each_set_of_dimensions() -> None:
    """Two sets of dimensions, one metric with one value and one with two: six datapoints."""
    assert datapoints(json.dumps(EXAMPLE)) == [
        Datapoint(namespace="lambda-function-metrics", name=name, dimensions=dimensions, unit=unit, value=value)
        for dimensions in ({"functionVersion": "$LATEST"}, {})
        for name, unit, value in (("time", "Milliseconds", 100.0), ("sizes", "None", 1.0), ("sizes", "None", 2.0))
    ]


@pytest.mark.parametrize(
    "line", ["", "ready.", '{"headway": "effective"}', 'no "_aws" in it', '{"_aws": {}}', '["_aws"]', '{"_aws": 1}']
)
def test_any_other_line_measures_nothing(line: str) -> None:
    """Words, other JSON, words about the format, and JSON that breaks it."""
    assert datapoints(line) == []
