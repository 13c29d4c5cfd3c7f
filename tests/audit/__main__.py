"""Holds every stage's templates against every rule, and writes the counts to out/audit/report.json."""

import json
import sys
from collections.abc import Mapping

from stacks.loading import load_stages
from tests.audit.lint import lint
from tests.audit.nag import nag
from tests.audit.permissions import permissions
from tests.audit.secrets import secrets
from tests.synth import ROOT, stage

OUT = ROOT / "out" / "audit" / "report.json"

#: What must be zero.
_FINDINGS = ("nag_open", "cfn_lint", "wildcard_actions", "secrets")


def main() -> int:
    """Write the report; return 0, or 1 where something was found that should not be there."""
    stages = load_stages()
    nagged = [nag(settings) for settings in stages.values()]
    allowed = {each for name in stages for each in permissions(stage(name))}
    uncovered = [finding for verdict in nagged for finding in verdict.uncovered]
    complaints = [each for name, settings in stages.items() for each in lint(stage(name), region=settings.region)]
    leaks = [each for name in stages for template in stage(name).templates.values() for each in secrets(template)]
    for problem in (*uncovered, *complaints, *leaks):
        sys.stderr.write(f"{problem}\n")
    report = {
        "nag_open": len(uncovered),
        "nag_acknowledged": sum(len(verdict.findings) for verdict in nagged) - len(uncovered),
        "cfn_lint": len(complaints),
        "wildcard_actions": len({each.action for each in allowed if "*" in each.action}),
        "wildcard_resources": len({each.action for each in allowed if each.arn == "*"}),
        "secrets": len(leaks),
    }
    _write(report)
    return int(any(report[name] for name in _FINDINGS))


def _write(report: Mapping[str, int]) -> None:
    OUT.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, indent=2) + "\n"
    OUT.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    sys.exit(main())
