"""What was read, and what was decided: the two values the scaling math lies between.

Named tuples: a simulation makes tens of thousands of them a second.
"""

from typing import NamedTuple


class LaneCounts(NamedTuple):
    """One lane's approximate message counts, as SQS reports them."""

    visible: int
    in_flight: int

    @property
    def total(self) -> int:
        """Waiting and in-flight messages together: work in flight is work a task is still needed for."""
        return self.visible + self.in_flight


class Reading(NamedTuple):
    """One look at a stage. ``fast`` is None where there is no fast lane; task counts are the heavy service's.

    ``deploying``: old tasks are being replaced, so that running and protected ones may outnumber the desired.
    """

    heavy: LaneCounts
    fast: LaneCounts | None
    running: int
    desired: int
    protected: int
    deploying: bool = False


class Decision(NamedTuple):
    """How many tasks the stage needs, and what to publish.

    ``scale_out_to`` and ``scale_in_to`` are task counts, 0 where that direction has nothing to do, and a half for no
    task at all;
    ``backlog_per_task`` is waiting messages by running task.
    """

    need: int
    scale_out_to: int
    scale_in_to: float
    backlog_per_task: float
