"""What a process was told, read from its variables."""

import json
from collections.abc import Mapping
from typing import Any


def urls_of(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return the queue URLs by lane that a process was told; none where that is no JSON object."""
    return mapping(variables.get("HEADWAY_QUEUE_URLS", ""))


def mapping(text: str) -> Mapping[str, Any]:
    """Return a JSON object, empty for anything else."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
