"""Fixtures of the runtime's tests: one emulator and one PostgreSQL server a run, one stage a test."""

import dataclasses
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from headway.contract import DatabaseSecret
from headway.jobs import migrate
from headway_ops.local.ports import answers, free_port
from headway_ops.local.postgres import postgres
from headway_ops.local.processes import Ledger, spawn, stop
from tests.runtime.support.model import ModelServer
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import KEYS, Stage
from tests.runtime.support.waiting import until

_EMULATOR = Path(__file__).resolve().parents[2] / ".emulator" / "bin" / "python"


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The emulator's endpoint."""
    directory, port = tmp_path_factory.mktemp("emulator"), free_port()
    settings = {"GATEWAY_PORT": str(port), "BIND_HOST": "127.0.0.1", "SFTP_ENABLED": "0", "LOG_LEVEL": "WARNING"}
    process = spawn(
        [_EMULATOR, "-m", "ministack"],
        env={"PATH": os.defpath, **settings},
        log=directory / "emulator.log",
        ledger=Ledger(directory / "processes"),
        cwd=directory,
    )
    try:
        until(lambda: answers(port), what="emulator")
        yield f"http://127.0.0.1:{port}"
    finally:
        stop(process)


@pytest.fixture(scope="session")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DatabaseSecret]:
    with postgres(tmp_path_factory.mktemp("postgres")) as secret:
        migrate.upgrade(secret)
        yield secret


@pytest.fixture
def empty_database(_server: DatabaseSecret) -> DatabaseSecret:
    """The secret of a database with nothing in it."""
    name = f"test_{uuid.uuid4().hex}"
    with _connected(_server) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
    return dataclasses.replace(_server, dbname=name)


@pytest.fixture
def database(_server: DatabaseSecret) -> DatabaseSecret:
    """The secret of a job store that is upgraded and empty."""
    with _connected(_server) as connection:
        connection.execute("TRUNCATE jobs, blocks, steps, calls, events")
    return _server


def _connected(secret: DatabaseSecret) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(
        host=secret.host,
        port=secret.port,
        dbname=secret.dbname,
        user=secret.username,
        password=secret.password,
        autocommit=True,
    )


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model server."""
    server = ModelServer()
    with serving(server):
        yield server
        server.gate.set()


@pytest.fixture
def stage(
    emulator: str, database: DatabaseSecret, model: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Stage]:
    """Lanes, a bucket, a job store and a model of the test's own; this process has AWS's variables too."""
    for name, value in {"AWS_ENDPOINT_URL": emulator, **KEYS}.items():
        monkeypatch.setenv(name, value)
    made = Stage(emulator, database, model, tmp_path)
    yield made
    made.engine.dispose()
