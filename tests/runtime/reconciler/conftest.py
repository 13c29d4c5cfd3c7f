"""A job store, seen by the application and by its owner."""

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from headway.contract import DatabaseSecret
from headway.jobs import connect
from headway_ops.local.postgres import Server


@pytest.fixture
def owner(database: DatabaseSecret, postgres_server: Server) -> Iterator[sa.Engine]:
    """The job store, for what the application may not do itself."""
    made = connect(postgres_server.owner)
    yield made
    made.dispose()


@pytest.fixture
def engine(database: DatabaseSecret) -> Iterator[sa.Engine]:
    """An empty job store."""
    made = connect(database)
    yield made
    made.dispose()
