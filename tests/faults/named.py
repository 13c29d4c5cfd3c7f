"""Runs the catalogue's tests, and says of each fault what became of it."""

import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

from headway_ops.local.project import PROJECT
from tests.faults.catalogue import CATALOGUE, Fault


def run() -> dict[str, str]:
    """Return "passed" or "failed" by each fault's number and name."""
    named = sorted({test for fault in CATALOGUE for test in fault.tests})
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", f"--junit-xml={results}", *named],
            cwd=PROJECT,
            stdout=sys.stderr,
            check=False,
        )
        passed = _passed(results)
    return {f"{fault.number} {fault.name}": _outcome(fault, passed) for fault in CATALOGUE}


def _outcome(fault: Fault, passed: dict[str, bool]) -> str:
    return "passed" if all(passed.get(test, False) for test in fault.tests) else "failed"


def _passed(results: Path) -> dict[str, bool]:
    """Return whether a test passed with all its parameters, by node id."""
    outcomes = defaultdict(list)
    for case in ElementTree.parse(results).iter("testcase"):
        node = f"{case.attrib['classname'].replace('.', '/')}.py::{case.attrib['name'].partition('[')[0]}"
        outcomes[node].append(not {child.tag for child in case} & {"failure", "error", "skipped"})
    return {node: all(each) for node, each in outcomes.items()}
