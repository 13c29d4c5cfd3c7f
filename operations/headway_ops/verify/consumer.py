"""After the consumer: its tasks run what was deployed, the gauge is fresh, and protection comes and goes."""

import datetime as dt
from collections.abc import Iterator

from headway.scaling import metrics
from headway.worker.guard import GRANTED, RELEASED
from headway_ops.deployed import DeployedService, DeployedStage
from headway_ops.deployed.services import log_lines
from headway_ops.doctor import Finding
from headway_ops.verify.subject import Said, Subject

#: How far the gauge's own clock, CloudWatch's periods and a laptop may be behind, wall seconds.
_GRACE_S = 15.0


def rolled_out(service: DeployedService, where: str) -> Iterator[Said]:
    """Look whether a service's deployment has ended, with every task that it wants."""
    if service.deployments != 1 or service.rollout != "COMPLETED":
        yield Finding(
            "rollout", where, f"its deployment is {service.rollout}, {service.deployments} of them are going on"
        )
    elif service.running < service.desired:
        yield Finding("rollout", where, f"{service.running} of {service.desired} tasks run")


def fresh_metric(subject: Subject, stage: DeployedStage) -> Iterator[Said]:
    """Look whether the need was published within the last two publishes."""
    every_s, now = subject.settings.scaling.publish_every_s, dt.datetime.now(dt.UTC)
    names = metrics.dimensions(stage=stage.name, lane="heavy")
    points = stage.client("cloudwatch").get_metric_statistics(
        Namespace="Headway",
        MetricName=metrics.NEED.name,
        Dimensions=[{"Name": name, "Value": value} for name, value in names.items()],
        StartTime=now - dt.timedelta(minutes=15),
        EndTime=now + dt.timedelta(minutes=1),
        Period=every_s,
        Statistics=["Maximum"],
    )["Datapoints"]
    # A datapoint carries the time at which its period began.
    limit_s = subject.wall(2 * every_s) + every_s + _GRACE_S
    age_s = min(((now - point["Timestamp"]).total_seconds() for point in points), default=None)
    if age_s is None:
        yield Finding("metric-stale", "publisher", f"{metrics.NEED.name} has not been published in 15 minutes")
    elif age_s > limit_s:
        yield Finding(
            "metric-stale", "publisher", f"{metrics.NEED.name} is {age_s:.0f} s old, at most {limit_s:.0f} s is fresh"
        )


def protected_once(stage: DeployedStage) -> Iterator[Said]:
    """Look into the log of each protecting lane's tasks: each asks its agent when it starts, and lets go again."""
    for lane, service in stage.workers.items():
        if service.serving.variables.get("HEADWAY_PROTECTION") != "on":
            continue
        logged = log_lines(stage.client("logs"), service, '"protection"')
        if not logged:
            yield f"{lane}: no task runs, so its protection is not proven"
        for arn, lines in logged.items():
            missing = [word for word in (GRANTED, RELEASED) if not any(word in line for line in lines)]
            if missing:
                says = f"task {arn.rpartition('/')[2]} has not logged: {', '.join(missing)}"
                yield Finding("protection", lane, says)
