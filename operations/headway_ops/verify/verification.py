"""What a step of the promotion must have proven before the next one begins."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from botocore.exceptions import ClientError

from headway_ops.deployed import DeployedStage
from headway_ops.deployed.access import closed
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
    """Say whether a stack may be deployed now.

    Raises:
        StageError: the stage has no such stack.
    """
    template, stage = subject.template(stack), subject.again()
    state = promotion_of(stage, subject.templates)
    said: list[Said] = [Finding("out-of-order", stack, says) for says in state.before(stack, lanes_of(stack, template))]
    if stack == "consumer":
        said += [*outlive.by_settings(subject.settings), *outlive.waited_for(stage.workers)]
    return _sorted(said)


def verify_after(subject: Subject, stack: str, *, canary: bool) -> Verification:
    """Prove a stack that was just deployed; ``canary``: also by a message or a job that goes through it.

    Raises:
        StageError: the stage has no such stack.
    """
    subject.template(stack)
    state = promotion_of(subject.again(), subject.templates)
    refused = [Finding("out-of-order", stack, says) for says in state.missing(STACKS[: STACKS.index(stack) + 1])]
    if refused:
        return _sorted(refused)
    said = subject.patience.until_well(lambda: [*_said(_CHECKS[stack], subject)])
    if canary and not any(isinstance(each, Finding) for each in said):
        said += _said([_CANARIES[stack]] if stack in _CANARIES else (), subject)
    return _sorted(said)


def _said(checks: "Sequence[_Check]", subject: Subject) -> Iterator[Said]:
    """Run each check on one look; one that the caller has no right to is said, and the others go on."""
    stage = subject.again()
    for check in checks:
        try:
            yield from list(check(subject, stage))
        except ClientError as error:
            if not closed(error):
                raise
            yield f"not everything of {stage.name} could be looked at: {error}"


def _lanes(subject: Subject, stage: DeployedStage) -> Iterator[Said]:
    yield from check_lanes(subject.settings, stage.lanes)


def _whole(subject: Subject, stage: DeployedStage) -> Iterator[Said]:
    found = examine(subject.settings, subject.templates, stage)
    yield from found.findings
    yield from found.notices


def _consuming(subject: Subject, stage: DeployedStage) -> Iterator[Said]:
    """The examination without what the next step is yet to deploy."""
    templates = {name: body for name, body in subject.templates.items() if not name.endswith("-producer")}
    found = examine(subject.settings, templates, stage)
    yield from (finding for finding in found.findings if finding.where not in ("web", "producer"))
    yield from found.notices


def _workers_rolled_out(_subject: Subject, stage: DeployedStage) -> Iterator[Said]:
    for lane, service in stage.workers.items():
        yield from consumer.rolled_out(service, lane)


def _all_rolled_out(_subject: Subject, stage: DeployedStage) -> Iterator[Said]:
    for where, service in by_part(stage).items():
        yield from consumer.rolled_out(service, where)


def _outlived(subject: Subject, stage: DeployedStage) -> Iterator[Said]:
    yield from outlive.by_settings(subject.settings)
    yield from outlive.by_tasks(stage.workers)


_Check = Callable[[Subject, DeployedStage], Iterator[Said]]
#: What each step looks at until all is well; a network that has settled is all that the next stacks ask for.
_CHECKS: Mapping[str, Sequence[_Check]] = {
    "network": (),
    "queues": (_lanes, lambda _subject, stage: queues.consumer_grants(stage)),
    "jobstore": (jobstore.store,),
    "consumer": (
        _consuming,
        _workers_rolled_out,
        consumer.fresh_metric,
        lambda _subject, stage: consumer.protected_once(stage),
        lambda _subject, stage: jobstore.migrations(stage),
        _outlived,
    ),
    "producer": (_whole, _all_rolled_out),
}
#: What each step then sends through.
_CANARIES: Mapping[str, _Check] = {
    "queues": lambda _subject, stage: queues.canaries(stage),
    "producer": lambda subject, _stage: producer.canary_job(subject),
}


def _sorted(said: Iterable[Said]) -> Verification:
    everything = list(said)
    return Verification(
        findings=list(dict.fromkeys(each for each in everything if isinstance(each, Finding))),
        notices=list(dict.fromkeys(each for each in everything if isinstance(each, str))),
    )
