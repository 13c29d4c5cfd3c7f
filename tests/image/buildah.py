"""Builds the worker image from its own Dockerfile, without Docker and without a registry of images.

The Dockerfile's base is an image by digest. Its stand-in here is the same Python on Debian, made by debootstrap from
the packages that this machine installs from.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.synth import ROOT

#: The Debian whose Python is the image's 3.11.
_SUITE = "bookworm"
_PACKAGES = "python3,python3-pip,ca-certificates"
_BASE = "localhost/headway-base"
_IMAGE = "localhost/headway-worker"
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


@dataclass(frozen=True, kw_only=True)
class Image:
    """A built image: its files, and what its configuration says a container of it runs."""

    root: Path
    user: str
    command: tuple[str, ...]
    folder: str
    environment: tuple[str, ...]
    volumes: tuple[str, ...]


def lacking() -> str:
    """Return what this machine lacks to build an image, or nothing."""
    missing = [tool for tool in ("buildah", "debootstrap") if not shutil.which(tool)]
    if missing:
        return f"{' and '.join(missing)} not found: apt-get install buildah debootstrap"
    return "" if os.geteuid() == 0 else "not root, which debootstrap and chroot need"


def build(directory: Path) -> Image:
    """Build the image in ``directory``, which keeps the base for the next time; seconds to minutes.

    Raises:
        subprocess.CalledProcessError: a step failed; it has said why.
    """
    if _BASE not in _buildah(directory, "images", "--format", "{{.Name}}").split():
        _make_base(directory)
    _buildah(
        directory,
        "build",
        "--isolation=chroot",
        f"--from={_BASE}",
        "--pull=never",
        f"--tag={_IMAGE}",
        str(ROOT / "runtime"),
        quiet=False,
    )
    told: dict[str, Any] = json.loads(_buildah(directory, "inspect", "--type=image", _IMAGE))["OCIv1"]["config"]
    container = _buildah(directory, "from", "--pull=never", _IMAGE).strip()
    return Image(
        root=Path(_buildah(directory, "mount", container).strip()),
        user=told["User"],
        command=tuple(told["Cmd"]),
        folder=told["WorkingDir"],
        environment=tuple(told["Env"]),
        volumes=tuple(told["Volumes"]),
    )


def discard(directory: Path) -> None:
    """Remove the containers and the image; the base stays for the next time."""
    _buildah(directory, "rm", "--all")
    _buildah(directory, "rmi", "--force", _IMAGE)


def _make_base(directory: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="headway-base-") as folder:
        root = Path(folder)
        _bootstrap(root)
        container = _buildah(directory, "from", "scratch").strip()
        _buildah(directory, "add", "--quiet", container, str(root), "/")
        _buildah(directory, "commit", "--quiet", container, _BASE)
        _buildah(directory, "rm", container)


def _bootstrap(root: Path) -> None:
    _say("debootstrap", "--variant=minbase", f"--include={_PACKAGES}", _SUITE, str(root), *_mirror())
    (root / "usr/bin/python").symlink_to("python3")
    # An image has one Python, and pip is its package manager (PEP 668 leaves containers to their makers).
    for marker in root.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
        marker.unlink()
    # What this machine trusts and where it gets its packages, for pip inside the build.
    shutil.copy(_CERTIFICATES, root / _CERTIFICATES.relative_to("/"))
    if Path("/etc/pip.conf").exists():
        shutil.copy("/etc/pip.conf", root / "etc/pip.conf")


def _mirror() -> Sequence[str]:
    """Return where this machine's apt gets the suite from, or nothing: then debootstrap knows a place."""
    asked = ["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME)", "Created-By: Packages"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    return re.findall(rf"^(\S+) {_SUITE}$", listed, re.MULTILINE)[:1]


def _buildah(directory: Path, *arguments: str, quiet: bool = True) -> str:
    storage = ("--root", str(directory / "storage"), "--runroot", str(directory / "run"), "--storage-driver", "vfs")
    if not quiet:
        _say("buildah", *storage, *arguments)
        return ""
    return subprocess.run(["buildah", *storage, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout


def _say(*command: str) -> None:
    """Run a command whose progress goes to standard error."""
    subprocess.run(command, stdout=2, check=True)
