"""One web service a test."""

from collections.abc import Iterator

import pytest

from tests.runtime.support.stage import Stage
from tests.runtime.support.web import Web, web_service


@pytest.fixture
def web(stage: Stage) -> Iterator[Web]:
    """A web service over the test's stage."""
    with web_service(stage) as served:
        yield served
