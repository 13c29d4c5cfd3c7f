"""Guards the one folder that must stay without an __init__.py; imports nothing that the guard protects."""

import os
import sys
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """Stop before collection, which would end in a riddle: the library called constructs could not be imported."""
    if (Path(__file__).parent.parent / "constructs" / "__init__.py").exists():
        raise pytest.UsageError("constructs/__init__.py shadows the constructs library; delete it")
    # The CDK runs on the Node that was installed beside this Python, also where pytest was called without make.
    os.environ.setdefault("JSII_NODE", str(Path(sys.executable).with_name("node")))
