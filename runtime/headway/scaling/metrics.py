"""What each metric is called and measured by: one identity for the publisher, the alarms and the charts."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric's name and CloudWatch unit."""

    name: str
    unit: Literal["Count"]


#: Tasks to scale out to, 0 for "no".
SCALE_OUT_TO = Metric(name="ScaleOutTo", unit="Count")
#: Tasks to scale in to, 0 for "no", a half for none at all.
SCALE_IN_TO = Metric(name="ScaleInTo", unit="Count")
#: Waiting messages by running task, as charts and the classic policy use it.
BACKLOG_PER_TASK = Metric(name="BacklogPerTask", unit="Count")
#: Tasks the backlog needs.
NEED = Metric(name="TasksNeeded", unit="Count")
#: Messages waiting in a lane.
WAITING = Metric(name="MessagesWaiting", unit="Count")
#: Messages a lane's workers hold.
IN_FLIGHT = Metric(name="MessagesInFlight", unit="Count")


def dimensions(*, stage: str, lane: str) -> dict[str, str]:
    """Return the dimensions that tell one stage's lane from every other."""
    return {"Stage": stage, "Lane": lane}
