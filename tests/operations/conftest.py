"""The stages of the repository's own template, as the simulator reads them."""

import pytest

from headway_ops.simulate import SimulatedStage, stage_from
from headway_ops.simulate.assembly import read
from tests.synth import stage


@pytest.fixture(scope="session")
def prod() -> SimulatedStage:
    """The prod stage."""
    return stage_from("prod", read(stage("prod").folder))
