"""The dashboard: what whoever was woken sees first, and that it shows what is really published."""

import json
import re

from headway.scaling import metrics
from tests.synth import stage, text


def body(name: str) -> str:
    """Return a stage's dashboard as text, each reference in it as ${what it names}."""
    (dashboard,) = stage(name).of("consumer", "AWS::CloudWatch::Dashboard").values()
    return text(dashboard["DashboardBody"])


def test_every_alarm_of_the_stack_is_on_top() -> None:
    """The first widget lists each alarm that tells people; those that scale are no trouble."""
    first = json.loads(re.sub(r"\$\{[^}]*\}", "x", body("prod")))["widgets"][0]
    alarms = stage("prod").of("consumer", "AWS::CloudWatch::Alarm").values()
    told = [alarm for alarm in alarms if "docs/runbook.md" in alarm["AlarmDescription"]]
    assert first["type"] == "alarm"
    assert len(first["properties"]["alarms"]) == len(told)


def test_the_quota_is_drawn_across_the_calls_in_flight() -> None:
    """Prod's quota of 120 calls: what the fleet holds is seen against it."""
    assert '"horizontal":[{"value":120,"label":"quota","yAxis":"left"}]' in body("prod")


def test_what_the_publisher_says_is_shown_for_each_lane() -> None:
    """Waiting and in flight of both lanes, and the tasks needed."""
    shown = body("prod")
    for metric in (metrics.WAITING, metrics.IN_FLIGHT, metrics.NEED):
        assert f'"{metric.name}"' in shown
    for label in ("heavy waiting", "fast waiting", "heavy in flight", "fast in flight", "needed", "desired", "running"):
        assert f'"label":"{label}"' in shown
