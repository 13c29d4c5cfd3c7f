"""`make audit` counts what the other tests here hold."""

from stacks.loading import load_stage
from tests.audit.report import FINDINGS, measure


def test_nothing_is_found_and_what_is_accepted_is_counted() -> None:
    """The local stage: no finding; of the actions on "*" its image from elsewhere leaves those of the publisher."""
    counts = measure({"local": load_stage("local")})
    assert {name: counts[name] for name in FINDINGS} == dict.fromkeys(FINDINGS, 0)
    assert counts["wildcard_resources"] == len({"ecs:ListTasks", "cloudwatch:PutMetricData"})
    assert counts["nag_acknowledged"] > 0
