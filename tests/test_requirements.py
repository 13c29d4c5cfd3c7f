"""What requirements.txt installs is enough to synthesize, as CDK users expect."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_requirements_txt_alone_is_enough_to_synthesize(tmp_path: Path) -> None:
    """In an environment of its own with nothing but requirements.txt, app.py writes the assembly."""
    uv, python = Path(sys.executable).with_name("uv"), tmp_path / "venv" / "bin" / "python"
    environment = {"PATH": os.pathsep.join((str(python.parent), str(uv.parent), os.defpath)), "HOME": str(Path.home())}
    passed_on = {name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "UV_", "SSL_"))}
    commands: tuple[list[str | Path], ...] = (
        [uv, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv"],
        [uv, "pip", "install", "--quiet", "--python", python, "-r", "requirements.txt"],
    )
    for command in commands:
        subprocess.run(command, cwd=ROOT, env={**environment, **passed_on}, check=True, timeout=200)
    subprocess.run(
        [python, "app.py"],
        cwd=ROOT,
        env={**environment, "CDK_OUTDIR": str(tmp_path / "out"), "CDK_VALIDATION": "false"},
        check=True,
        timeout=100,
    )
    assert (tmp_path / "out" / "manifest.json").exists()
