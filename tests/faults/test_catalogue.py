"""The catalogue is whole, and what it names is there."""

import subprocess
import sys

from headway_ops.local.project import PROJECT
from tests.faults.catalogue import CATALOGUE


def test_no_fault_is_missing() -> None:
    """Forty, in their order, and each has its tests."""
    assert [fault.number for fault in CATALOGUE] == list(range(1, 41))
    assert len({fault.name for fault in CATALOGUE}) == 40
    assert [fault.number for fault in CATALOGUE if not fault.tests] == []


def test_every_test_it_names_exists() -> None:
    """Pytest itself collects each one (it ends with 4 where a node id is not found)."""
    named = sorted({test for fault in CATALOGUE for test in fault.tests})
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *named],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert collected.returncode == 0, collected.stdout + collected.stderr
