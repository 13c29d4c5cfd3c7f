"""The metric line of a call, as CloudWatch Logs reads it."""

import doctest
import json
import uuid

from headway.vision import calls
from headway.vision.calllog import CallLog
from headway.vision.calls import Call, Origin

_ORIGIN = Origin(job_id=uuid.uuid4(), step_id=uuid.uuid4(), attempt=2)
_CALL = Call(
    outcome="ok",
    latency_s=612.5,
    input_tokens=1_200,
    output_tokens=8,
    cost_usd=0.0003,
    rate_limited=3,
    in_flight_at_start=17,
)
_LOG = CallLog(namespace="Headway", stage="prod", lane="heavy", model="gpt-5-mini")


def test_a_line_is_embedded_metric_format() -> None:
    """Each metric and dimension that the line declares is a member of it (CloudWatch EMF specification)."""
    line = json.loads(_LOG.line(_CALL, _ORIGIN))
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Headway"
    assert directive["Dimensions"] == [["Stage", "Lane"]]
    assert {metric["Name"]: (metric["Unit"], line[metric["Name"]]) for metric in directive["Metrics"]} == {
        "CallLatency": ("Seconds", [612.5]),
        "CallInputTokens": ("Count", [1_200.0]),
        "CallOutputTokens": ("Count", [8.0]),
        "CallCostUsd": ("None", [0.0003]),
        "CallsRateLimited": ("Count", [3.0]),
        "CallsInFlightAtStart": ("Count", [17.0]),
    }
    assert (line["Stage"], line["Lane"]) == ("prod", "heavy")


def test_what_is_not_counted_stands_beside_it() -> None:
    """Properties, to be searched for: as dimensions each of them would be a metric of its own."""
    line = json.loads(_LOG.line(_CALL, _ORIGIN))
    assert (line["job"], line["step"], line["attempt"]) == (str(_ORIGIN.job_id), str(_ORIGIN.step_id), 2)
    assert (line["model"], line["outcome"]) == ("gpt-5-mini", "ok")


def test_a_line_is_written_in_one_piece() -> None:
    """A write of at most 4,096 bytes to a pipe is atomic, so lines of a pool's processes do not mix (POSIX, write)."""
    line = _LOG.line(_CALL, _ORIGIN)
    assert "\n" not in line
    assert len(line.encode()) + 1 <= 4_096


def test_prices_are_by_the_million_tokens() -> None:
    """As the function's own example shows."""
    assert doctest.testmod(calls).failed == 0
