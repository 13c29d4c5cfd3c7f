"""Every command in the README is one that the tests or CI run, and every figure that it promises is checked."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")

_PLANNING = "tests/operations/cli/test_planning.py"
_PROMOTING = "tests/operations/cli/test_promoting.py"

#: Each command, and what runs it.
RUN_BY = {
    "make demo": "tests/operations/cli/test_local_stage.py",
    "make test": ".ci/run",
    "headway up": "tests/operations/cli/test_local_stage.py",
    "headway submit drawing.png": "tests/operations/cli/test_local_stage.py",
    "headway status": "tests/operations/cli/test_local_stage.py",
    "headway cancel 3e3c74a9-ce7f-4098-9a27-b820509328fc": "tests/operations/cli/test_local_jobs.py",
    "headway jobs --status running --older-than 1h": "tests/operations/cli/test_local_jobs.py",
    "headway reconcile --dry-run": "tests/operations/cli/test_local_jobs.py",
    "headway db check": "tests/operations/cli/test_local_jobs.py",
    "headway down": "tests/operations/cli/test_local_stage.py",
    "headway simulate --stage prod --workload burst": "tests/operations/cli/test_simulate.py",
    "headway plan --stage prod --workload day.toml --max-wait 5m --budget 2000": _PLANNING,
    "headway ramp calls.log --stage prod": _PLANNING,
    "headway cost --stage prod --workload steady": _PLANNING,
    "headway worker --print-config": "tests/runtime/worker/test_effective.py",
    "headway verify --stage local --before consumer": _PROMOTING,
    "headway verify --stage local --after consumer": _PROMOTING,
    "headway doctor --stage local": _PROMOTING,
    "headway rollout fast-lane ready --stage local": _PROMOTING,
    "pip install -r requirements.txt": "tests/test_requirements.py",
    "cdk bootstrap": "operations/headway_ops/local/deploy.py",
    "cdk deploy 'dev/*'": "operations/headway_ops/local/deploy.py",
    "cdk destroy 'dev/*'": "tests/operations/cli/test_cdk_commands.py",
}
_COMMAND = re.compile(r"^    ((?:make|headway|pip|cdk) .+)$", re.MULTILINE)


def test_the_readme_shows_no_command_that_nothing_runs() -> None:
    """Each command is in the table, each entry of the table is in the README, and what runs it is there."""
    assert set(_COMMAND.findall(README)) == set(RUN_BY)
    assert [runner for runner in RUN_BY.values() if not (ROOT / runner).exists()] == []


def test_the_files_that_the_readme_links_are_there() -> None:
    """No dead link into the repository."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README)
    assert [link for link in links if not (ROOT / link).exists()] == []
