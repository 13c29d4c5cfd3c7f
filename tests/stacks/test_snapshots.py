"""Whole templates, so that every change of one shows up in review; `make snapshots` rewrites them."""

import json
import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from tests.synth import stage

#: Hashes of assets change with every line of the runtime, and say nothing about a template.
_HASH = re.compile(r"[0-9a-f]{64}")


class Templates(JSONSnapshotExtension):
    """One file a template, called by its stage and stack."""

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        """Return the name that the test gives."""
        return str(index)


def masked(template: dict[str, Any]) -> Any:
    """Return a template with its hashes masked."""
    return json.loads(_HASH.sub("<hash>", json.dumps(template)))


@pytest.mark.parametrize("stack", ["network", "queues", "jobstore", "consumer", "producer"])
@pytest.mark.parametrize("name", ["prod", "local"])
def test_template_is_the_reviewed_one(name: str, stack: str, snapshot: SnapshotAssertion) -> None:
    """The stack's template is the one that was last reviewed."""
    assert masked(stage(name).templates[stack]) == snapshot(name=f"{name}-{stack}", extension_class=Templates)
