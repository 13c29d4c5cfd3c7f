"""Look at a whole stage: every check, every row; what cannot be read is said and the rest goes on."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from headway_ops.deployed import DeployedService, DeployedStage
from headway_ops.deployed.access import closed
from headway_ops.doctor import grants, lanes, loop, release, secrets, services, workers
from headway_ops.doctor.finding import Diagnosis, Finding, Row
from headway_ops.doctor.intended import intended
from stacks.settings import StageSettings


def examine(settings: StageSettings, templates: Mapping[str, Any], stage: DeployedStage) -> Diagnosis:
    """Compare stages.toml, ``templates`` (by stack name), what is deployed, and what runs.

    Raises:
        botocore.exceptions.ClientError: AWS refused a call for another reason than missing rights.
        botocore.exceptions.BotoCoreError: AWS cannot be reached.
    """
    parts = by_part(stage)
    reports = dict[str, Mapping[str, Any]]()
    notices: list[str] = []

    def released() -> Iterator[Finding]:
        for name, template in templates.items():
            short = name.removeprefix(f"headway-{settings.name}-")
            if short in stage.stacks:
                yield from release.check_release(template, stage.stacks[short], short)
            else:
                yield Finding("not-deployed", short, "the stack does not exist")

    def told() -> Iterator[Finding]:
        for lane, service in stage.workers.items():
            for arn, report in stage.told(service).items():
                if report:
                    reports[lane] = report
                    yield from workers.check_worker(service, report)
                else:
                    notices.append(
                        f"task {arn.rpartition('/')[2]} of {lane} has written no report: what it runs with is not known"
                    )

    def granted() -> Iterator[Finding]:
        iam = stage.client("iam")
        for need in grants_of(stage):
            yield from grants.check_need(iam, need)

    checks: dict[str, Callable[[], Iterable[Finding]]] = {
        "templates": released,
        "lanes": lambda: lanes.check_lanes(settings, stage.lanes),
        "services": lambda: services.check_services(settings, parts),
        "workers": told,
        "scaling": lambda: loop.check_loop(settings, stage.scaling, parts) if stage.scaling else (),
        "grants": granted,
        "secrets": lambda: secrets.check_secrets(stage.client("secretsmanager"), parts),
    }
    findings: list[Finding] = []
    for what, check in checks.items():
        try:
            findings += check()
        except ClientError as error:
            if not closed(error):
                raise
            notices.append(f"{what} could not be looked at: {error}")
    return Diagnosis(list(_rows(settings, stage, reports)), list(dict.fromkeys(findings)), notices)


def by_part(stage: DeployedStage) -> Mapping[str, DeployedService]:
    """Return the services by the part of the stage that each is: its lane, or web."""
    return {service.lane or "web": service for service in stage.services}


def grants_of(stage: DeployedStage) -> Iterator[grants.Need]:
    """Yield what every role of the stage needs on its lanes."""
    yield from grants.worker_needs(stage.lanes, stage.workers)
    senders = {where: service.serving.role_arn for where, service in by_part(stage).items() if not service.lane}
    if "producer" in stage.stacks:
        senders["producer"] = stage.stacks["producer"].outputs["ProducerRoleArn"]
    yield from grants.sender_needs(stage.lanes, senders)


def _rows(settings: StageSettings, stage: DeployedStage, reports: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
    for lane, (queue, _service) in settings.consumed_lanes.items():
        if lane in stage.lanes:
            yield from lanes.rows(lane, queue, stage.lanes[lane])
        if lane in stage.workers:
            yield from _variables(settings, stage.workers[lane], reports.get(lane, {"settings": ()}))
    if stage.scaling:
        yield from loop.rows(settings, stage.scaling)


def _variables(settings: StageSettings, service: DeployedService, report: Mapping[str, Any]) -> Iterator[Row]:
    said = {row["source"].partition(" ")[0]: row["value"] for row in report["settings"]}
    meant = intended(settings, service.lane)
    for name in sorted(service.asked.variables.keys() | service.serving.variables.keys() | meant.keys()):
        value, source = meant.get(name, ("", ""))
        yield Row(
            service.lane,
            name,
            source,
            {
                "stages.toml": value,
                "template": service.asked.variables.get(name, ""),
                "in service": service.serving.variables.get(name, ""),
                "worker": said.get(name, ""),
            },
        )
