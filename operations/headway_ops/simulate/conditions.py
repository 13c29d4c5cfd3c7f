"""What AWS and the worker do that no template says: delays, lags and limits, each with its source."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """One day's weather. All durations are seconds; a pair is the range a duration is drawn from, evenly."""

    #: Pending to running on Fargate, image pull included (field reports; no guide promises a time).
    task_start_s: tuple[float, float] = (30.0, 90.0)
    #: Tasks a service starts at once, and then each second (Fargate quotas: 100 burst, 20 sustained on demand).
    launch_burst: int = 100
    launches_per_s: float = 20.0
    #: An idle worker's warm shutdown after SIGTERM.
    task_exit_s: float = 3.0
    #: EventBridge runs a schedule within its minute, seconds late; the function starts and reads after it.
    schedule_delay_s: tuple[float, float] = (0.5, 5.0)
    #: SQS counts are approximate: what is read is this old ...
    count_lag_s: tuple[float, float] = (0.0, 6.0)
    #: ... and with this chance up to a minute old, as the guide allows after producers stop.
    stale_chance: float = 0.01
    stale_s: tuple[float, float] = (6.0, 60.0)
    #: What a change of capacity is added to: the running count, as the ECS guide says of step scaling, or the desired
    #: one, as field reports say. A policy that names exact capacities does not depend on it.
    scales_from_running: bool = False
    #: CloudWatch evaluates an alarm this long after its period's end.
    alarm_delay_s: float = 1.0
    #: A message that is sent to a waiting long poll is with its worker after this time (loopback: 2-40 ms).
    pickup_s: tuple[float, float] = (0.01, 0.05)
    #: The ECS agent's answer to a request for protection.
    protect_s: tuple[float, float] = (0.05, 0.3)
    #: An I/O-bound worker's CPU with every slot in use; it never reaches the usual target of 70%.
    busy_cpu_percent: float = 57.0
