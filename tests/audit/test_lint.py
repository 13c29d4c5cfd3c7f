"""cfn-lint has nothing to say about any template."""

import pytest

from stacks.loading import load_stages
from tests.audit.lint import LEFT_OUT, lint
from tests.pipeline import SETTINGS, synthesized
from tests.synth import stage

STAGES = load_stages()


@pytest.mark.parametrize("name", STAGES)
def test_cfn_lint_complains_of_nothing(name: str) -> None:
    """No error, no warning, in the stage's own region."""
    assert lint(stage(name), region=STAGES[name].region) == []


def test_cfn_lint_complains_of_nothing_in_a_pipeline() -> None:
    """Nor in the stack that promotes the stages."""
    assert lint(synthesized(), region=SETTINGS.region) == []


def test_each_rule_that_is_left_out_would_complain() -> None:
    """A rule that nothing breaks any more is not left out any longer."""
    built = ((stage("prod"), STAGES["prod"].region), (synthesized(), SETTINGS.region))
    said = {each.rule for made, region in built for each in lint(made, region=region, left_out=())}
    assert said == set(LEFT_OUT)
