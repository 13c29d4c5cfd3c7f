"""What a step of the promotion must have proven before the next one begins."""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from headway_ops.deployed import DeployedStage
from headway_ops.doctor import Finding, examine
from headway_ops.doctor.examine import by_part
from headway_ops.doctor.lanes import check_lanes
from headway_ops.promotion import lanes_of, promotion_of
from headway_ops.verify import consumer, jobstore, outlive, producer, queues
from headway_ops.verify.subject import Said, Subject
from stacks.promotion import STACKS


@dataclass(frozen=True)
class Verification:
    """What is wrong, and what could not be found out or is worth knowing."""

    findings: Sequence[Finding]
    notices: Sequence[str]


def verify_before(subject: Subject, stack: str) -> Verification:
    """Say whether a stack may be deployed now."""
    stage = subject.again()
    state = promotion_of(stage, subject.templates)
    template = subject.templates[f"headway-{stage.name}-{stack}"]
    return _sorted(Finding("out-of-order", stack, says) for says in state.before(stack, lanes_of(stack, template)))


def verify_after(subject: Subject, stack: str, *, canary: bool) -> Verification:
    """Prove a stack that was just deployed; ``canary``: also by a message or a job that goes through it.

    Raises:
        UnreachableError: the stage cannot be read.
    """
    state = promotion_of(subject.again(), subject.templates)
    refused = [Finding("out-of-order", stack, says) for says in state.missing(STACKS[: STACKS.index(stack) + 1])]
    if refused:
        return _sorted(refused)
    said = subject.patience.until_well(lambda: list(_CHECKS[stack](subject, subject.again())))
    if canary and not any(isinstance(each, Finding) for each in said):
        said += _CANARIES[stack](subject, subject.again()) if stack in _CANARIES else ()
    return _sorted(said)


def _network(subject: Subject, stage: DeployedStage) -> Iterator[Said]:
    """A network that has settled is all that the next stacks ask for."""
    yield from ()


def _queues(subject: Subject, stage: DeployedStage) -> Iterator[Said]:
    yield from check_lanes(subject.settings, stage.lanes)
    yield from queues.consumer_grants(stage)


def _consumer(subject: Subject, stage: DeployedStage) -> Iterator[Said]:
    templates = {name: body for name, body in subject.templates.items() if not name.endswith("-producer")}
    found = examine(subject.settings, templates, stage)
    parts = {where: service for where, service in by_part(stage).items() if service.lane}
    yield from (finding for finding in found.findings if finding.where not in ("web", "producer"))
    yield from found.notices
    for where, service in parts.items():
        yield from consumer.rolled_out(service, where)
    yield from consumer.fresh_metric(subject, stage)
    yield from consumer.protected_once(stage)
    yield from jobstore.migrations(stage)
    yield from outlive.by_settings(subject.settings)
    yield from outlive.by_tasks(parts, dt.datetime.now(dt.UTC))


def _producer(subject: Subject, stage: DeployedStage) -> Iterator[Said]:
    found = examine(subject.settings, subject.templates, stage)
    yield from found.findings
    yield from found.notices
    for where, service in by_part(stage).items():
        yield from consumer.rolled_out(service, where)


#: What each step looks at until all is well; then what it sends through.
_CHECKS: Mapping[str, Callable[[Subject, DeployedStage], Iterator[Said]]] = {
    "network": _network,
    "queues": _queues,
    "jobstore": jobstore.store,
    "consumer": _consumer,
    "producer": _producer,
}
_CANARIES: Mapping[str, Callable[[Subject, DeployedStage], Iterator[Said]]] = {
    "queues": lambda _subject, stage: queues.canaries(stage),
    "producer": lambda subject, _stage: producer.canary_job(subject),
}


def _sorted(said: Iterable[Said]) -> Verification:
    everything = list(said)
    return Verification(
        findings=list(dict.fromkeys(each for each in everything if isinstance(each, Finding))),
        notices=list(dict.fromkeys(each for each in everything if isinstance(each, str))),
    )
