"""Every pool that is allowed runs steps, keeps its metric lines whole and ends when it is told to."""

import pytest

from headway.jobs import tally
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until


@pytest.mark.parametrize("pool", ["prefork", "threads", "solo"])
def test_a_pool_runs_steps(stage: Stage, pool: str) -> None:
    """Eight steps on two slots: eight calls, eight lines, nothing left in the lane, exit 0."""
    for _ in range(8):
        stage.send_step(stage.pending_step())
    with stage.worker(pool=pool) as worker:
        until(lambda: tally(stage.engine).steps_succeeded == 8, what="eight steps")
        until(lambda: stage.counts() == (0, 0), what="all acknowledged")
        assert worker.terminate() == 0
        assert [line["outcome"] for line in worker.metrics] == ["ok"] * 8
    assert len(stage.model.asked) == 8
