"""cfn-lint over every template of a stage or a pipeline, against its own region."""

from dataclasses import dataclass

from cfnlint.api import lint_file
from cfnlint.config import ManualArgs

from tests.synth import Synthesized

#: Rules that are left out, each with the reason.
LEFT_OUT = {
    "W3005": "the CDK writes DependsOn beside a reference that implies it, and takes no option",
    # cfnlint/rules/resources/codepipeline/PipelineActionConfiguration.py passes every error below on as its own.
    "E3703": "for a role by Fn::Join it repeats the preference of I1022, which is a hint, as an error",
}


@dataclass(frozen=True, kw_only=True)
class Complaint:
    """A rule of cfn-lint's that a template breaks, and where."""

    template: str
    rule: str
    message: str


def lint(built: Synthesized, *, region: str, left_out: tuple[str, ...] = tuple(LEFT_OUT)) -> list[Complaint]:
    """Return what cfn-lint says about synthesized templates."""
    arguments = ManualArgs(regions=[region], ignore_checks=list(left_out))
    return [
        Complaint(template=path.name, rule=match.rule.id, message=match.message)
        for path in sorted(built.folder.glob("*.template.json"))
        for match in lint_file(path, arguments)
    ]
