"""Does each service run what its stack made, told what stages.toml says?"""

import re
from collections.abc import Iterator, Mapping

from headway.producer.routing import aliased, choose_lane
from headway_ops.deployed import DeployedService
from headway_ops.doctor.finding import Finding
from headway_ops.doctor.intended import intended
from headway_ops.doctor.telling import urls_of
from stacks.settings import StageSettings

#: The region that an SQS queue's URL names (AWS General Reference, "Amazon SQS endpoints").
_REGION = re.compile(r"://sqs\.([a-z0-9-]+)\.amazonaws\.com")


def check_services(settings: StageSettings, services: Mapping[str, DeployedService]) -> Iterator[Finding]:
    """Yield what is wrong with the services, by the part of the stage that each is."""
    for where, service in services.items():
        yield from _revision(where, service)
        yield from _pinned(settings, where, service)
        yield from _addresses(settings, where, service)
    for lane in settings.consumed_lanes:
        if lane not in services:
            yield Finding("lane-unserved", lane, "no service consumes it")


def _revision(where: str, service: DeployedService) -> Iterator[Finding]:
    if service.serving.arn != service.asked.arn:
        says = f"the service is set to {_short(service.serving.arn)}, its stack made {_short(service.asked.arn)}"
        yield Finding("stale-task-definition", where, says)
    elif service.deployments == 1:
        for task in service.tasks:
            if task.status == "RUNNING" and task.definition_arn != service.serving.arn:
                says = f"task {_short(task.arn)} runs {_short(task.definition_arn)}, not {_short(service.serving.arn)}"
                yield Finding("stale-task-definition", where, says)


def _pinned(settings: StageSettings, where: str, service: DeployedService) -> Iterator[Finding]:
    serving, asked = service.serving.variables, service.asked.variables
    for name in sorted(serving.keys() | asked.keys()):
        if serving.get(name) != asked.get(name):
            says = f"{name} is {_told(serving, name)} in service, {_told(asked, name)} in its stack's task definition"
            yield Finding("pinned-elsewhere", where, says)
    for name, (value, setting) in (intended(settings, where) if where in settings.consumed_lanes else {}).items():
        if serving.get(name) == asked.get(name) != value:
            says = f"{name} is {_told(serving, name)} in service, {setting} says {value}"
            yield Finding("pinned-elsewhere", where, says)


def _addresses(settings: StageSettings, where: str, service: DeployedService) -> Iterator[Finding]:
    variables = service.serving.variables
    urls, fast = urls_of(variables), variables.get("FAST_QUEUE", "")
    for lane, url in urls.items():
        named = _REGION.search(url)
        if named and named[1] != settings.region:
            yield Finding(
                "wrong-region", where, f"the URL of lane {lane} is {named[1]}'s, region says {settings.region}"
            )
    main = variables.get("HEADWAY_MAIN_LANE", "heavy")
    if service.lane:
        warning = aliased(urls, fast, main_lane=main).warning if fast.strip() or len(urls) > 1 else ""
        if warning:
            yield Finding("lane-alias", where, warning)
    else:
        if warning := choose_lane(fast, main_lane=main, lanes=urls).warning:
            yield Finding("lane-alias", where, warning)
        wanted = "fast" if settings.fast_lane == "on" else ""
        if fast != wanted:
            says = f"FAST_QUEUE is {fast or 'not set'}, fast_lane = {settings.fast_lane!r} says {wanted or 'not set'}"
            yield Finding("rollout-switch", where, says)


def _told(variables: Mapping[str, str], name: str) -> str:
    return variables.get(name, "not set")


def _short(arn: str) -> str:
    return arn.rpartition("/")[2]
