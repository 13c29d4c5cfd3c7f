"""The runbook: every alarm of every stage leads to a heading of it, and each heading to an alarm."""

import re

from headway_ops.cli.app import app
from stacks.loading import load_stages
from tests.synth import ROOT, stage

_RUNBOOK = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
#: As GitHub makes a heading's anchor: lower case, blanks become hyphens.
_HEADINGS = {line[3:].strip().lower().replace(" ", "-") for line in _RUNBOOK.splitlines() if line.startswith("## ")}


def anchors(name: str) -> set[str]:
    """Return the anchors that the descriptions in one stage's templates end with."""
    return set(re.findall(r"docs/runbook\.md#([a-z0-9-]+)\"", str(stage(name).templates).replace("'", '"')))


def test_each_alarm_has_its_heading_and_each_heading_its_alarm() -> None:
    """An alarm without a page wakes somebody who knows nothing; a page without an alarm is never read."""
    named = {anchor for name in load_stages() for anchor in anchors(name)}
    assert named == _HEADINGS


def test_every_alarm_tells_somebody() -> None:
    """Each alarm either scales or tells the topic."""
    for name in load_stages():
        for part in ("consumer", "producer"):
            for properties in stage(name).of(part, "AWS::CloudWatch::Alarm").values():
                assert properties["AlarmActions"], properties["AlarmDescription"]


def test_its_commands_exist() -> None:
    """A runbook is followed at night: each `headway ...` in it is a command of ours."""
    commands = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    groups = {group.name for group in app.registered_groups}
    used = set(re.findall(r"^    headway ([a-z]+)", _RUNBOOK, flags=re.MULTILINE))
    assert used
    assert used <= commands | groups
