"""How does a stage run faster than the clock on the wall?

Durations that AWS would keep are divided by the stage's speed: scheduled rules, queues' visibility timeouts, alarm
periods, task starts, protection. What a caller asks for in seconds is not: a worker divides what it asks itself, and a
long poll's wait bounds a connection, which a new message ends at once.
"""

import time
from collections import Counter
from typing import Any

#: The schedule of what runs once a minute, from the clock's minute on. Here it runs from when the rule was made: a
#: function's own start is minutes of stage time.
_EVERY_MINUTE = "cron(* * * * ? *)"
#: A visibility timeout is never shorter than this in wall seconds: a laptop's scheduler may hold a worker up for
#: seconds, and its lease would lapse in the middle of its work.
MIN_VISIBILITY_WALL_S = 6.0


class StageTime:
    """Stage seconds since the minute in which the emulator started, minutes counted from the epoch as alarms do."""

    def __init__(self, *, speed: float) -> None:
        self.speed = speed
        self._start = time.monotonic() - time.time() * speed % 60 / speed

    def now(self) -> float:
        """Return the time in stage seconds."""
        return (time.monotonic() - self._start) * self.speed

    def wall(self, stage_s: float) -> float:
        """Return a stage duration in wall seconds."""
        return stage_s / self.speed

    def visibility_wall(self, timeout_s: float) -> float:
        """Return how long a message stays hidden, in wall seconds."""
        return max(self.wall(timeout_s), min(timeout_s, MIN_VISIBILITY_WALL_S))


def install(eventbridge: Any, sqs: Any, clock: StageTime) -> None:
    """Divide what the emulator keeps by wall time."""
    parse_rate, collect = eventbridge._parse_rate_seconds, sqs._collect_msgs

    def rate(expression: str) -> float | None:
        seconds = 60 if expression == _EVERY_MINUTE else parse_rate(expression)
        return None if seconds is None else clock.wall(seconds)

    def collect_messages(queue: dict[str, Any], count: int, timeout_s: float) -> Any:
        return collect(queue, count, clock.visibility_wall(timeout_s))

    eventbridge._parse_rate_seconds = rate
    eventbridge._SCHEDULER_TICK_INTERVAL = min(1.0, clock.wall(60) / 10)
    sqs._collect_msgs = collect_messages


def install_functions(lambda_runtime: Any, lambda_svc: Any) -> None:
    """Let functions run in stage time, and no more at once than they have reserved.

    The stage's speed is the emulator's own variable, whatever the template says. An invocation beyond the reservation
    is dropped, as AWS throttles: a schedule faster than the clock meets its own slow invocations more often.
    """
    lambda_runtime._RESERVED_RUNTIME_ENV_VARS |= {"HEADWAY_SPEED"}
    execute, running = lambda_svc._execute_function_with_config_scope, Counter[str]()

    def within_reservation(record: dict[str, Any], event: Any) -> Any:
        name, reserved = record["config"]["FunctionName"], record.get("concurrency")
        if reserved is not None and running[name] >= int(reserved):
            return None
        running[name] += 1
        try:
            return execute(record, event)
        finally:
            running[name] -= 1

    lambda_svc._execute_function_with_config_scope = within_reservation
