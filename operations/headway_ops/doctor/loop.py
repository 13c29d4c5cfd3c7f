"""Can the loop that sizes the fleet close? Schedule, function, metric, alarm, policy, target."""

from collections.abc import Iterator, Mapping

from headway_ops.deployed import DeployedScaling, DeployedService
from headway_ops.doctor.finding import Finding, Row
from headway_ops.doctor.telling import mapping
from stacks.settings import StageSettings


def check_loop(
    settings: StageSettings, scaling: DeployedScaling, services: Mapping[str, DeployedService]
) -> Iterator[Finding]:
    """Yield each place where the loop is open."""
    yield from _publisher(settings, scaling)
    yield from _alarms(scaling)
    yield from _target(settings, scaling)
    yield from _counts(settings, services)


def _publisher(settings: StageSettings, scaling: DeployedScaling) -> Iterator[Finding]:
    for logical_id, state in scaling.rules.items():
        if state != "ENABLED":
            part = "publisher" if logical_id.startswith("Publisher") else "reconciler"
            yield Finding(f"{part}-off", part, f"its schedule is {state}")
    if scaling.concurrency == 0:
        yield Finding("publisher-off", "publisher", "its function may run 0 times at once")
    plan = mapping(scaling.variables.get("HEADWAY_PLAN", ""))
    for name, value in settings.plan.to_mapping().items():
        if plan.get(name) != value:
            says = f"{name} of HEADWAY_PLAN is {plan.get(name)}, stages.toml says {value}"
            yield Finding("pinned-elsewhere", "publisher", says)


def _alarms(scaling: DeployedScaling) -> Iterator[Finding]:
    for alarm in scaling.alarms:
        if len(alarm.actions) < alarm.asked:
            says = f"{len(alarm.actions)} of its {alarm.asked} actions are carried out: it is gone, changed or disabled"
            yield Finding("alarm-unwired", alarm.logical_id, says)
    for logical_id, arn in scaling.policies.items():
        if arn not in scaling.live_policies:
            yield Finding("alarm-unwired", logical_id, "its scaling policy does not exist")
        elif not any(arn in alarm.actions for alarm in scaling.alarms):
            yield Finding("alarm-unwired", logical_id, "no alarm carries this policy out")


def _target(settings: StageSettings, scaling: DeployedScaling) -> Iterator[Finding]:
    if not scaling.target:
        yield Finding("scaling-bounds", "heavy", "the service is no scalable target")
        return
    for row in rows(settings, scaling):
        intended, effective = row.values["stages.toml"], row.values["scalable target"]
        if intended != effective:
            yield Finding("scaling-bounds", "heavy", f"{row.setting} is {effective}, {row.source} says {intended}")
    suspended = [name for name, is_so in scaling.target.get("SuspendedState", {}).items() if is_so]
    if suspended:
        yield Finding("scaling-suspended", "heavy", ", ".join(sorted(suspended)))


def _counts(settings: StageSettings, services: Mapping[str, DeployedService]) -> Iterator[Finding]:
    fixed = {"fast": settings.services.fast.min_tasks, "web": settings.web.tasks}
    for where, service in services.items():
        if where in fixed and service.desired != fixed[where]:
            yield Finding(
                "desired-pinned", where, f"{service.desired} tasks are desired, stages.toml says {fixed[where]}"
            )
        elif where == "heavy" and not settings.plan.min_tasks <= service.desired <= settings.plan.cap:
            bounds = f"{settings.plan.min_tasks}..{settings.plan.cap}"
            yield Finding("desired-pinned", where, f"{service.desired} tasks are desired, the plan allows {bounds}")


def rows(settings: StageSettings, scaling: DeployedScaling) -> Iterator[Row]:
    """Yield the scaled service's bounds side by side."""
    for setting, source, value, name in (
        ("min_tasks", "services.heavy.min_tasks", settings.plan.min_tasks, "MinCapacity"),
        ("max_tasks", "model.quota_calls", settings.plan.cap, "MaxCapacity"),
    ):
        effective = str(scaling.target.get(name, ""))
        yield Row("heavy", setting, source, {"stages.toml": str(value), "scalable target": effective})
