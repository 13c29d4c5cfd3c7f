"""Alarms stand in two places: in the emulator, which shows them, and in the control loop, which evaluates them."""

import time
from typing import Any

from ministack.services import cloudwatch

from headway_ops.loop import ControlLoop, template


class Alarms:
    """Brings the loop what the account's alarms are, and the account what the loop says of them."""

    def __init__(self, loop: ControlLoop) -> None:
        self._loop = loop
        self._taken: dict[str, dict[str, Any]] = {}

    def take(self) -> None:
        """Add the alarms that are new or changed to the loop, and drop those that are gone."""
        for name, record in list(cloudwatch._alarms.items()):
            if not record.get("MetricName"):  # metric math tells people, and scales nothing
                continue
            definition = {key: value for key, value in record.items() if not key.startswith("State")}
            if self._taken.get(name) != definition:
                self._taken[name] = definition
                self._loop.add_alarm(template.alarm(name, record))
        for name in self._taken.keys() - set(cloudwatch._alarms.keys()):
            del self._taken[name]
            self._loop.remove(name)

    def show(self, name: str, before: str, after: str) -> None:
        """Show an alarm's new state where the CloudWatch API looks."""
        reason = "evaluated by the control-loop model"
        cloudwatch._alarms[name].update(StateValue=after, StateReason=reason, StateUpdatedTimestamp=int(time.time()))
        cloudwatch._record_history(name, before, after, reason)
