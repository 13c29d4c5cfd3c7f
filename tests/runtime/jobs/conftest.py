"""One job store a test, with what tests put into it."""

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from headway.contract import DatabaseSecret
from headway.jobs import connect


@pytest.fixture
def engine(database: DatabaseSecret) -> Iterator[sa.Engine]:
    """An empty job store."""
    made = connect(database)
    yield made
    made.dispose()
