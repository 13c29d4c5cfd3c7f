"""Whole templates, so that every change of one shows up in review; `make snapshots` rewrites them."""

import difflib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from tests.synth import ROOT, stage

#: Hashes of assets change with every line of the runtime, and say nothing about a template.
_HASH = re.compile(r"[0-9a-f]{64}")


def masked(template: dict[str, Any]) -> Any:
    """Return a template with its hashes masked."""
    return json.loads(_HASH.sub("<hash>", json.dumps(template)))


@pytest.mark.parametrize("stack", ["network", "queues", "jobstore", "consumer", "producer"])
@pytest.mark.parametrize("name", ["prod", "local"])
def test_template(name: str, stack: str, snapshot: SnapshotAssertion) -> None:
    """The stack's template is the one that was last reviewed."""
    assert masked(stage(name).templates[stack]) == snapshot(extension_class=JSONSnapshotExtension)


def test_changing_one_number_changes_one_line(tmp_path: Path) -> None:
    """`make snapshots` after one number of one stage was changed: its line differs in that stage, and nothing else."""
    for name in ("stacks", "constructs", "runtime", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("cdk.json", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    # The last table of the file is another stage's, so a table of prod's is added at the end.
    settings = (ROOT / "stages.toml").read_text(encoding="utf-8")
    (tmp_path / "stages.toml").write_text(f"{settings}\n[stages.prod.lanes.heavy]\nmax_receives = 6\n")
    snapshots = tmp_path / "tests" / "stacks" / "__snapshots__" / "test_snapshots"
    before = {path.name: path.read_text(encoding="utf-8").splitlines() for path in snapshots.iterdir()}
    subprocess.run(
        [sys.executable, "-m", "pytest", "tests/stacks/test_snapshots.py", "-k", "test_template", "--snapshot-update"],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(str(tmp_path / root) for root in (".", "constructs", "runtime")),
        },
        stdout=subprocess.DEVNULL,
        timeout=200,
        check=True,
    )
    changed = [
        (path.name, line)
        for path in snapshots.iterdir()
        for line in difflib.ndiff(before[path.name], path.read_text(encoding="utf-8").splitlines())
        if line[0] in "+-"
    ]
    assert [(name, line.split()) for name, line in changed] == [
        ("test_template[prod-queues].json", ["-", '"maxReceiveCount":', "5"]),
        ("test_template[prod-queues].json", ["+", '"maxReceiveCount":', "6"]),
    ]
