"""Is what is deployed what this checkout would deploy? Template by template, resource by resource."""

from collections.abc import Iterator, Mapping
from typing import Any

from headway_ops.deployed import Stack
from headway_ops.doctor.finding import Finding

#: A stack's parts that say nothing of what it does: the version check of the bootstrap, and the CDK's own usage data.
_ASIDE = ("CDKMetadata",)


def check_release(intended: Mapping[str, Any], stack: Stack, where: str) -> Iterator[Finding]:
    """Yield a finding for each resource of a template that is missing, more, or has other properties."""
    wanted = _resources(intended)
    there = _resources(stack.template)
    for logical_id in sorted(wanted.keys() | there.keys()):
        if logical_id not in there:
            yield Finding("not-deployed", f"{where}.{logical_id}", "is in this release, and not in the stack")
        elif logical_id not in wanted:
            yield Finding("not-deployed", f"{where}.{logical_id}", "is in the stack, and not in this release")
        elif (path := difference(wanted[logical_id], there[logical_id])) is not None:
            yield Finding("not-deployed", f"{where}.{logical_id}", f"{path or 'it'} differs from this release's")


def difference(one: Any, other: Any) -> str | None:
    """Return the path of the first difference between two JSON values, None where there is none.

    >>> difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]})
    'a.1.b'
    """
    match one, other:
        case dict(), dict():
            parts = [(key, one.get(key), other.get(key)) for key in sorted(one.keys() | other.keys())]
        case list(), list() if len(one) == len(other):
            parts = [(str(index), *pair) for index, pair in enumerate(zip(one, other, strict=True))]
        case _:
            return None if one == other else ""
    for key, left, right in parts:
        if (below := difference(left, right)) is not None:
            return f"{key}.{below}".rstrip(".")
    return None


def _resources(template: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        logical_id: {key: value for key, value in resource.items() if key != "Metadata"}
        for logical_id, resource in template.get("Resources", {}).items()
        if logical_id not in _ASIDE
    }
