"""``headway simulate`` from the repository's own template."""

import json
from pathlib import Path

import pytest

from headway_ops.simulate.workload import shipped
from tests.operations.cli.running import headway
from tests.synth import stage


def assembly() -> str:
    """Return a cdk.out with the prod stage, synthesized once a test run."""
    return str(stage("prod").folder.parent)


def test_the_readmes_command_simulates_the_repositorys_own_template(tmp_path: Path) -> None:
    """It synthesizes, runs, fills the quota without passing it, and prints what the README shows."""
    done = headway("simulate", "--stage", "prod", "--workload", "burst", state=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "calls     at most 120 of 120 in flight; 0 beyond, 0 rate limited" in done.stdout
    readme = (Path(__file__).resolve().parents[3] / "README.md").read_text(encoding="utf-8")
    assert [line for line in done.stdout.splitlines() if f"    {line}\n" not in readme] == []


def test_json_holds_every_figure(tmp_path: Path) -> None:
    """One JSON object on stdout, and the same one again: the seed decides everything."""
    arguments = ("simulate", "--workload", "trickle", "--assembly", assembly(), "--json")
    first, again = (headway(*arguments, state=tmp_path) for _ in range(2))
    assert first.stdout == again.stdout
    figures = json.loads(first.stdout)
    assert figures["jobs"] == figures["jobs_finished"] > 0
    assert figures["quota"] == 120


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--stage", "nowhere"], "stage = 'nowhere': unknown; stages.toml has dev, staging, prod, local"),
        (["--workload", "nope"], f"workload = 'nope': no such file, and none of {', '.join(shipped())}"),
        (["--assembly", "/nowhere"], "/nowhere/assembly-prod: no cloud assembly of a stage ("),
    ],
)
def test_what_cannot_be_simulated_is_one_line(arguments: list[str], says: str, tmp_path: Path) -> None:
    """Exit 3, one line, nothing on stdout."""
    done = headway("simulate", *arguments, state=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
    assert done.stderr.startswith(f"headway: {says}")


def test_overload_ends_and_says_so(tmp_path: Path) -> None:
    """A quota that can never be enough: exit 1, and how many jobs were left."""
    flood = tmp_path / "flood.toml"
    flood.write_text("drain_h = 1\n[[phases]]\nminutes = 60\njobs_per_min = 10\n", encoding="utf-8")
    done = headway("simulate", "--workload", str(flood), "--assembly", assembly(), state=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("headway: saturated: ")


def test_html_is_written_where_it_was_asked_for(tmp_path: Path) -> None:
    """One file, its folder made, with our run and its peers'; stdout is as without it."""
    arguments = ("simulate", "--workload", "trickle", "--assembly", assembly())
    plain = headway(*arguments, state=tmp_path)
    done = headway(*arguments, "--html", "out/sim.html", state=tmp_path)
    assert (done.returncode, done.stdout) == (0, plain.stdout)
    text = (tmp_path / "out" / "sim.html").read_text(encoding="utf-8")
    assert all(f"<td>{name}</td>" in text for name in ("headway", "classic", "keda", "copilot", "clairvoyant"))
