"""cdk-nag finds nothing that is not reasoned, and every reason is for something that it finds."""

import json
from pathlib import Path

import aws_cdk as cdk
import pytest
from cdk_nag import AwsSolutionsChecks

from headway_cdk import hardened
from stacks.deployment import Deployment
from stacks.loading import load_stages
from tests import synth
from tests.audit.nag import Nagged, nag, nag_pipeline
from tests.pipeline import pipeline

STAGES = load_stages()


@pytest.fixture(scope="module")
def nagged() -> dict[str, Nagged]:
    """Every stage's verdict, and a pipeline's."""
    return {**{name: nag(settings) for name, settings in STAGES.items()}, "Pipeline": nag_pipeline()}


def plugged_in(*names: str) -> cdk.App:
    """Return an app of these stages that has cdk-nag plugged in."""
    root = synth.app()
    cdk.Validations.of(root).add_plugins(AwsSolutionsChecks(root))
    for name in names:
        Deployment(root, name, settings=STAGES[name])
    return root


def test_every_stage_synthesizes_with_cdk_nag_plugged_in() -> None:
    """The acknowledgements are in the form that cdk-nag reads: no violation stops the synthesis."""
    plugged_in(*STAGES).synth()


def test_a_pipeline_synthesizes_with_cdk_nag_plugged_in() -> None:
    """With the stages that it promotes: the roles that CDK Pipelines makes are acknowledged where they are."""
    root = plugged_in()
    pipeline(root)
    root.synth()


def test_synthesis_fails_without_one_acknowledgement(monkeypatch: pytest.MonkeyPatch) -> None:
    """With ECS2's taken away synth fails, and names each task that is told something, and no other rule."""
    monkeypatch.setattr(hardened, "acknowledge", lambda *_: None)
    root = plugged_in("local")
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        root.synth()
    (report,) = json.loads((Path(root.outdir) / "validation-report.json").read_text(encoding="utf-8"))["pluginReports"]
    assert {
        (violation["ruleName"], construct["constructPath"])
        for violation in report["violations"]
        for construct in violation["violatingConstructs"]
    } == {
        ("AwsSolutions-ECS2", f"local/{task}/Task/Resource")
        for task in ("Consumer/Heavy", "Consumer/Fast", "Consumer/Reconciler", "Producer/Web")
    }


def test_no_finding_is_open(nagged: dict[str, Nagged]) -> None:
    """Each finding of each stage and of the pipeline is covered by a reason at its construct."""
    assert {name: verdict.uncovered for name, verdict in nagged.items()} == {name: [] for name in nagged}


def test_no_acknowledgement_is_stale(nagged: dict[str, Nagged]) -> None:
    """Each reason covers a finding in at least one of them: cdk-nag itself lets stale ones pass in silence."""
    given, used = set(), set()
    for stage, verdict in nagged.items():
        for each in verdict.acknowledgements:
            place = (each.rule.partition("[")[0], each.path.removeprefix(stage), each.reason)
            given.add(place)
            if any(each.covers(finding) for finding in verdict.findings):
                used.add(place)
    assert given
    assert given == used


def test_every_reason_says_something(nagged: dict[str, Nagged]) -> None:
    """A reason is a sentence of four words at the least."""
    reasons = {each.reason for verdict in nagged.values() for each in verdict.acknowledgements}
    assert [reason for reason in reasons if len(reason.split()) < 4] == []
