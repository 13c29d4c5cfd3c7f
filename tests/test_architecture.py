"""Which code may see which: import roots, the runtime without the CDK, and pure math."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def python(code: str, **options: str) -> str:
    """Return what ``code`` prints in a fresh interpreter, run from the root."""
    run = subprocess.run(
        [sys.executable, *options.get("flags", "").split(), "-c", code],
        cwd=options.get("cwd", ROOT),
        env={"PATH": "/usr/bin:/bin", "HOME": "/tmp", **({"PYTHONPATH": options["path"]} if "path" in options else {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_both_constructs_are_what_they_say() -> None:
    """From the root, `constructs` is the library and `headway_cdk` is ours: no __init__.py shadows either."""
    printed = python("import constructs, headway_cdk; print(constructs.__file__); print(headway_cdk.__file__)")
    library, ours = printed.splitlines()
    assert "site-packages/constructs/__init__.py" in library
    assert Path(ours) == ROOT / "constructs" / "headway_cdk" / "__init__.py"


def test_stray_init_stops_the_run_with_one_line(tmp_path: Path) -> None:
    """With constructs/__init__.py there pytest ends before it collects: exit code 4, usage error, and what to do."""
    (tmp_path / "constructs").mkdir()
    (tmp_path / "constructs" / "__init__.py").touch()
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "tests"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert run.stderr.strip() == "ERROR: constructs/__init__.py shadows the constructs library; delete it"


def modules() -> list[str]:
    """Return every module of the runtime that can be imported for its own sake."""
    runtime = ROOT / "runtime"
    found = (path.relative_to(runtime).with_suffix("") for path in sorted((runtime / "headway").rglob("*.py")))
    return [
        ".".join(path.parts).removesuffix(".__init__")
        for path in found
        if path.name not in ("__main__", "env") and "versions" not in path.parts
    ]


def test_runtime_runs_without_the_cdk() -> None:
    """Every runtime module imports from runtime/ alone, and none of them loads the CDK, the stacks or operations."""
    printed = python(
        f"import importlib, sys\nfor name in {modules()!r}: importlib.import_module(name)\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))",
        path=str(ROOT / "runtime"),
        cwd="/",
    )
    assert "headway" in printed.split()
    assert not {"aws_cdk", "constructs", "jsii", "headway_cdk", "headway_ops", "stacks"} & set(printed.split())


def test_rights_on_lanes_are_spelled_in_one_place() -> None:
    """What the constructs grant is what the doctor asks IAM for: no other source names an SQS action."""
    roots = ("runtime", "constructs", "stacks", "operations")
    sources = (path for root in roots for path in (ROOT / root).rglob("*.py"))
    spelled = {
        str(path.relative_to(ROOT)) for path in sources if re.search(r'"sqs:[A-Z]', path.read_text(encoding="utf-8"))
    }
    assert spelled == {"runtime/headway/contract/rights.py"}


@pytest.mark.parametrize("module", ["headway.scaling", "headway.contract"])
def test_shared_modules_need_no_package_at_all(module: str) -> None:
    """The math and the contract import with the standard library only: -S hides every installed package."""
    python(f"import {module}", path=str(ROOT / "runtime"), cwd="/", flags="-S")


def test_publisher_needs_only_what_lambda_has() -> None:
    """Of third-party packages the function loads boto3 and what boto3 brings, which Lambda's runtime provides."""
    printed = python(
        "import sys, headway.publisher.handler\n"
        "installed = {n: getattr(m, '__file__', None) or '' for n, m in sys.modules.items()}\n"
        "print(*sorted({n.split('.')[0] for n, file in installed.items() if 'site-packages' in file}))",
        path=str(ROOT / "runtime"),
        cwd="/",
    )
    lambdas = {"boto3", "botocore", "jmespath", "s3transfer", "urllib3", "dateutil", "six"}
    loaded = {name for name in printed.split() if not name.startswith("_")}  # site-packages' own .pth hooks aside
    # Botocore takes certifi's certificates where that happens to be there, and brings its own (botocore.httpsession).
    assert loaded - {"certifi"} <= lambdas
    assert "boto3" in loaded
