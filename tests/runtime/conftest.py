"""Fixtures of the runtime's tests: one emulator and one PostgreSQL server a run, one stage a test."""

import dataclasses
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from headway.contract import DatabaseSecret
from headway.jobs import connect
from headway_ops.local.postgres import Server, postgres
from tests.runtime.support.emulator import emulated_aws
from tests.runtime.support.model import ModelServer
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import KEYS, Stage


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The emulator's endpoint."""
    with emulated_aws(tmp_path_factory.mktemp("emulator")) as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A PostgreSQL server whose first database is a job store."""
    with postgres(tmp_path_factory.mktemp("postgres")) as server:
        server.upgrade()
        yield server


@pytest.fixture
def empty_database(postgres_server: Server) -> DatabaseSecret:
    """The application's secret of a database with nothing in it."""
    name = f"test_{uuid.uuid4().hex}"
    with _connected(postgres_server.owner) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
    return dataclasses.replace(postgres_server.secret, dbname=name)


@pytest.fixture
def database(postgres_server: Server) -> DatabaseSecret:
    """The application's secret of a job store that is upgraded and empty."""
    with _connected(postgres_server.owner) as connection:
        connection.execute("TRUNCATE jobs, blocks, steps, calls, events, call_leases")
    return postgres_server.secret


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


@pytest.fixture
def owner(database: DatabaseSecret, postgres_server: Server) -> Iterator[sa.Engine]:
    """The same job store, for what the application may not do itself."""
    made = connect(postgres_server.owner)
    yield made
    made.dispose()


@pytest.fixture
def engine(database: DatabaseSecret) -> Iterator[sa.Engine]:
    """An empty job store."""
    made = connect(database)
    yield made
    made.dispose()
