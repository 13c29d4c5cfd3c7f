"""The composition root as a user runs it: every stage with the CDK's own rules on, and bad settings in one line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import app
from stacks.loading import SettingsError
from tests.synth import ROOT


def test_every_stage_synthesizes_with_the_cdks_rules_on(tmp_path: Path) -> None:
    """`python app.py` finds no violation, prints no warning, and writes every stage."""
    context = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    run = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "app.py")],
        env={
            **os.environ,
            "CDK_VALIDATION": "true",
            "CDK_OUTDIR": str(tmp_path),
            "CDK_CONTEXT_JSON": json.dumps(context),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert {path.name for path in tmp_path.glob("assembly-*")} == {
        "assembly-dev",
        "assembly-staging",
        "assembly-prod",
        "assembly-local",
    }


def test_bad_settings_are_one_line_and_exit_three(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback: the message on standard error, and exit code 3."""

    def refuse() -> None:
        raise SettingsError("stages.toml: stages.dev.region: field required")

    monkeypatch.setattr(app, "load_stages", refuse)
    assert app.main() == 3
    assert capsys.readouterr() == ("", "stages.toml: stages.dev.region: field required\n")
