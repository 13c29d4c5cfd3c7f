"""What every check says about some stages and a pipeline, counted.

What is found goes to standard error, one line each.
"""

import sys
from collections.abc import Mapping

from stacks.settings import StageSettings
from tests.audit.lint import lint
from tests.audit.nag import nag, nag_pipeline
from tests.audit.permissions import permissions
from tests.audit.secrets import secrets
from tests.pipeline import SETTINGS, synthesized
from tests.synth import stage

#: What must be zero.
FINDINGS = ("nag_open", "cfn_lint", "wildcard_actions", "secrets")


def measure(stages: Mapping[str, StageSettings]) -> dict[str, int]:
    """Return the counts over the templates of ``stages`` and of a pipeline.

    Wildcards count each action once; the tests hold those on "*" against the list of what AWS binds to no resource.
    They are the stages' alone: what CDK Pipelines grants its own roles is among what is acknowledged.
    """
    nagged = [*(nag(settings) for settings in stages.values()), nag_pipeline()]
    uncovered = [finding for verdict in nagged for finding in verdict.uncovered]
    allowed = {each for name in stages for each in permissions(stage(name))}
    built = [*((stage(name), settings.region) for name, settings in stages.items()), (synthesized(), SETTINGS.region)]
    complaints = [each for made, region in built for each in lint(made, region=region)]
    leaks = [each for made, _region in built for template in made.templates.values() for each in secrets(template)]
    for problem in (*uncovered, *complaints, *leaks):
        sys.stderr.write(f"{problem}\n")
    return {
        "nag_open": len(uncovered),
        "nag_acknowledged": sum(len(verdict.findings) for verdict in nagged) - len(uncovered),
        "cfn_lint": len(complaints),
        "wildcard_actions": len({each.action for each in allowed if "*" in each.action}),
        "wildcard_resources": len({each.action for each in allowed if each.arn == "*"}),
        "secrets": len(leaks),
    }
