"""A server for the races of a run, and two sides that come for one job."""

from collections.abc import Iterator

import pytest

from headway_ops.local.postgres import Server, postgres
from tests.races.players import Hall, hall


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A PostgreSQL server that is a job store."""
    with postgres(tmp_path_factory.mktemp("postgres")) as running:
        running.upgrade()
        yield running


@pytest.fixture(scope="session")
def races(server: Server) -> Iterator[Hall]:
    """Processes that play races on it."""
    with hall(server) as opened:
        yield opened
