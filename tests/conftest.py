"""Guards the one folder that must stay without an __init__.py, importing nothing that the guard protects."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: a busy machine is no finding. The nightly profile runs state machines long: 2,000 times 50 steps.
settings.register_profile("usual", deadline=None)
settings.register_profile("nightly", deadline=None, max_examples=2_000, stateful_step_count=50)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))


def pytest_configure() -> None:
    """Stop before collection, which would end in a riddle: the library called constructs could not be imported."""
    if (Path(__file__).parent.parent / "constructs" / "__init__.py").exists():
        raise pytest.UsageError("constructs/__init__.py shadows the constructs library; delete it")
    # The CDK runs on the Node that was installed beside this Python, also where pytest was called without make.
    os.environ.setdefault("JSII_NODE", str(Path(sys.executable).with_name("node")))
