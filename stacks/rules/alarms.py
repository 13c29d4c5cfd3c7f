"""Alarms: ages that no healthy work reaches, and a topic that is one."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stacks.rules.problem import Problem

if TYPE_CHECKING:
    from stacks.settings import StageSettings

_TOPIC = re.compile(r"arn:[a-z-]+:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}")


def alarm_problems(stage: "StageSettings") -> Iterator[Problem]:
    """Yield what is wrong with the alarms."""
    for name in ("heavy", "fast"):
        lane, service = getattr(stage.lanes, name), getattr(stage.services, name)
        if lane.oldest_alarm_s <= service.time_limit_s:
            yield Problem(
                field=f"lanes.{name}.oldest_alarm_s",
                value=lane.oldest_alarm_s,
                bound=f"must exceed time_limit_s = {service.time_limit_s}: a message ages while its work lives",
                fix=f"set {2 * service.time_limit_s}",
            )
    numbers = stage.alarms
    if numbers.rate_limited_per_call <= 0:
        yield Problem(
            field="alarms.rate_limited_per_call",
            value=numbers.rate_limited_per_call,
            bound="must be above 0, or it goes off with every call",
            fix="set 0.5",
        )
    if numbers.topic_arn and not _TOPIC.fullmatch(numbers.topic_arn):
        yield Problem(
            field="alarms.topic_arn",
            value=numbers.topic_arn,
            bound="must be the ARN of a standard SNS topic",
            fix="copy it from the topic's page, or leave it empty",
        )
