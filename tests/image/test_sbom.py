"""The bill of materials lists what the image installs, and is CycloneDX."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.image.sbom import bill_of_materials
from tests.synth import ROOT

LOCK = ROOT / "runtime" / "requirements.txt"


@pytest.fixture(scope="module")
def bill() -> dict[str, Any]:
    """The image's bill."""
    return dict(json.loads(bill_of_materials(LOCK)))


def test_every_package_of_the_lock_is_listed_once(bill: dict[str, Any]) -> None:
    """One component an entry, less the entries for other systems and other Pythons: Windows, Emscripten."""
    entries = re.findall(r"^([\w.-]+)==(\S+)(.*)$", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    elsewhere = {"tzdata", "httpx2-jsfetch"}
    assert [(each["name"], each["version"]) for each in bill["components"]] == sorted(
        (name, version) for name, version, _marker in entries if name not in elsewhere
    )


def test_a_component_carries_its_locks_hashes(tmp_path: Path) -> None:
    """A package and its two hashes, and none for another system."""
    (lock := tmp_path / "lock.txt").write_text(
        "kombu==5.7.0 \\\n"
        f"    --hash=sha256:{'a' * 64} \\\n"
        f"    --hash=sha256:{'b' * 64}\n"
        "tzdata==2026.6 ; sys_platform == 'win32' \\\n"
        f"    --hash=sha256:{'c' * 64}\n"
    )
    (only,) = json.loads(bill_of_materials(lock))["components"]
    assert only["purl"] == "pkg:pypi/kombu@5.7.0"
    assert sorted(each["content"] for each in only["hashes"]) == ["a" * 64, "b" * 64]


def test_the_bill_is_cyclonedx(bill: dict[str, Any]) -> None:
    """It says its version, and fits the schema that CycloneDX publishes for it."""
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill)) is None
