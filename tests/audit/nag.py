"""cdk-nag's AwsSolutions pack over every stage and a pipeline: what it finds, and which reason covers each finding."""

from collections.abc import Callable
from dataclasses import dataclass
from unittest import mock

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks
from constructs import IConstruct

from headway_cdk import acknowledged
from stacks.deployment import Deployment
from stacks.settings import StageSettings
from tests import synth
from tests.pipeline import pipeline

_PACK = "AwsSolutions"


@dataclass(frozen=True, order=True, kw_only=True)
class Finding:
    """A rule that a resource breaks; ``path`` is the resource's in the construct tree."""

    rule: str
    path: str


@dataclass(frozen=True, order=True, kw_only=True)
class Acknowledgement:
    """A rule that a construct and all below it are excused from, and why."""

    rule: str
    path: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Return whether the finding is this rule's, at or below this construct."""
        return self.rule == finding.rule and f"{finding.path}/".startswith(f"{self.path}/")


@dataclass(frozen=True, kw_only=True)
class Nagged:
    """The findings of a stage or a pipeline, as if nothing were acknowledged, and its acknowledgements."""

    findings: tuple[Finding, ...]
    acknowledgements: tuple[Acknowledgement, ...]

    @property
    def uncovered(self) -> list[Finding]:
        """The findings that nobody gave a reason for."""
        return [each for each in self.findings if not any(by.covers(each) for by in self.acknowledgements)]


def nag(settings: StageSettings) -> Nagged:
    """Return what cdk-nag says about a stage."""
    return _nagged(lambda root: Deployment(root, settings.name, settings=settings))


def nag_pipeline() -> Nagged:
    """Return what cdk-nag says about the stack of a pipeline, CDK Pipelines' own roles included."""
    return _nagged(pipeline)


def _nagged(build: Callable[[cdk.App], IConstruct]) -> Nagged:
    """Return what cdk-nag says about what ``build`` puts into an app.

    It acknowledges under another pack's name, so that cdk-nag reports everything and each reason can be held against
    what it is for.
    """
    with mock.patch.object(acknowledged, "_PACK", "Recorded"):
        root = synth.app()
        built = build(root)
        root.synth()
    return Nagged(
        findings=tuple(
            sorted(
                Finding(rule=violation.rule_name.removeprefix(f"{_PACK}-"), path=resource.construct_path or "")
                for violation in AwsSolutionsChecks().validate_scope(built).violations
                for resource in violation.violating_resources
            )
        ),
        acknowledgements=tuple(sorted(_recorded(built))),
    )


def _recorded(root: IConstruct) -> list[Acknowledgement]:
    key = cdk.Validations.ACKNOWLEDGED_RULES_METADATA_KEY
    return [
        Acknowledgement(rule=name.rpartition("Recorded-")[2], path=construct.node.path, reason=reason)
        for construct in root.node.find_all()
        for entry in construct.node.metadata
        if entry.type == key
        for name, reason in entry.data.items()
        if "Recorded-" in name
    ]
