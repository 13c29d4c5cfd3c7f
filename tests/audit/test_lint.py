"""cfn-lint has nothing to say about any template."""

import pytest

from stacks.loading import load_stages
from tests.audit.lint import LEFT_OUT, lint
from tests.synth import stage

STAGES = load_stages()


@pytest.mark.parametrize("name", STAGES)
def test_cfn_lint_complains_of_nothing(name: str) -> None:
    """No error, no warning, in the stage's own region."""
    assert lint(stage(name), region=STAGES[name].region) == []


def test_each_rule_that_is_left_out_would_complain() -> None:
    """A rule that nothing breaks any more is not left out any longer."""
    said = {complaint.rule for complaint in lint(stage("prod"), region=STAGES["prod"].region, left_out=())}
    assert said == set(LEFT_OUT)
