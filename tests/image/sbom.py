"""What is in the image? A CycloneDX bill of materials of its hashed lock, as the image's own Python would read it."""

import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement

#: Where a lock's markers are true or false: CPython 3.11 on Linux, which runtime/Dockerfile is made from.
_IMAGE = {
    "sys_platform": "linux",
    "platform_system": "Linux",
    "python_version": "3.11",
    "python_full_version": "3.11.0",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
}
_ENTRY = re.compile(
    r"^(?P<requirement>[^\s#-][^\\\n]*?)\s*\\\n(?P<hashes>(?:\s+--hash=sha256:\w+\s*\\?\n?)+)", re.MULTILINE
)
_HASH = re.compile(r"sha256:(\w+)")


def bill_of_materials(lock: Path) -> str:
    """Return the bill, as CycloneDX 1.6 JSON: each package that ``lock`` installs in the image, with its hashes."""
    subject = Component(type=ComponentType.CONTAINER, name="headway", version=version("headway"))
    bill = Bom(components=list(_components(lock.read_text(encoding="utf-8"))))
    bill.metadata.component = subject
    bill.register_dependency(subject, bill.components)
    return JsonV1Dot6(bill).output_as_string(indent=2) + "\n"


def _components(lock: str) -> Iterator[Component]:
    for entry in _ENTRY.finditer(lock):
        requirement = Requirement(entry["requirement"])
        if requirement.marker is None or requirement.marker.evaluate(_IMAGE):
            (pinned,) = requirement.specifier
            url = PackageURL("pypi", None, requirement.name, pinned.version)
            yield Component(
                type=ComponentType.LIBRARY,
                name=requirement.name,
                version=pinned.version,
                purl=url,
                bom_ref=url.to_string(),
                hashes=[HashType(alg=HashAlgorithm.SHA_256, content=each) for each in _HASH.findall(entry["hashes"])],
            )
