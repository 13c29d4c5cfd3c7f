"""Is there a secret in a template? Plain variables by their names, and every text by its shape and its entropy."""

import collections
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

#: What a variable that holds a secret is called.
_NAMED = re.compile(r"(PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|PRIVATE_?KEY|CREDENTIALS?)$", re.IGNORECASE)
#: Shapes that their issuers give keys, so that scanners find them.
_SHAPES = {
    "an AWS access key id": re.compile(r"\b(AKIA|ASIA)[0-9A-Z]{16}\b"),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "a model vendor's key": re.compile(r"\bsk-[A-Za-z0-9_-]{20,}"),
    "a GitHub token": re.compile(r"\b(gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{22,})"),
    "a JSON web token": re.compile(r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\."),
    "a URL with a password": re.compile(r"://[^/\s:@$]+:[^/\s:@$]+@"),
}
_RUN = re.compile(r"[A-Za-z0-9+/_=-]{32,}")
#: An asset's or an image's SHA-256, which the CDK writes.
_DIGEST = re.compile(r"[0-9a-f]{64}")
#: What leads to another resource by its name, and holds no text of its own.
_REFERENCES = frozenset({"Ref", "Fn::GetAtt", "Fn::GetStackOutput", "DependsOn"})
#: Bits a character. Random base64 of 40 characters has about 4.8; words run together, as in logical ids, about 4.
_RANDOM_BITS = 4.5


def secrets(template: Mapping[str, Any]) -> list[str]:
    """Return what looks like a secret in a template, one line each: where it is and why, never what it is."""
    names = frozenset(template["Resources"])
    found = (f"{path}: {why}" for path, value in _texts(template) if (why := _why(value, names)))
    return [*_plain_variables(template), *found]


def _plain_variables(template: Mapping[str, Any]) -> Iterator[str]:
    for logical_id, resource in template["Resources"].items():
        properties = resource.get("Properties", {})
        names = [
            variable["Name"]
            for container in properties.get("ContainerDefinitions", ())
            for variable in container.get("Environment", ())
        ]
        environment = properties.get("Environment")
        names += environment.get("Variables", ()) if isinstance(environment, dict) else ()
        yield from (f"{logical_id}: plain variable {name}" for name in names if _NAMED.search(name))
        if "SecretString" in properties:
            yield f"{logical_id}: a secret's value"


def _texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in _REFERENCES:
                yield from _texts(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, f"{path}/{index}")


def _why(value: str, names: frozenset[str]) -> str:
    for what, shape in _SHAPES.items():
        if shape.search(value):
            return what
    runs = set(_RUN.findall(_DIGEST.sub("", value))) - names
    return "a random text" if any(_bits(run) > _RANDOM_BITS for run in runs) else ""


def _bits(text: str) -> float:
    counts = collections.Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
