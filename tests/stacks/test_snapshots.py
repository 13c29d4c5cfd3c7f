"""Whole templates, so that every change of one shows up in review; `make snapshots` rewrites them."""

import json
import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from tests.synth import stage

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
