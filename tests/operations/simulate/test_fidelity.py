"""The simulator and the local stage, at sixty times true time, make the same of one burst."""

import json
from pathlib import Path

import pytest

from headway_ops.demo.run import DemoPlan
from headway_ops.simulate import simulate, stage_from
from headway_ops.simulate.assembly import read
from headway_ops.simulate.policies import headway
from headway_ops.simulate.workload import JobShape, Workload
from tests.operations.cli.running import headway as command
from tests.synth import stage

pytestmark = [pytest.mark.local_stage, pytest.mark.timeout(400)]

JOBS = 6


def test_both_make_the_same_of_a_burst(tmp_path: Path) -> None:
    """Both fill the quota and never pass it, go out to the cap, finish every job, and stop nothing at work.

    The laptop's own seconds, in which its processes begin, are minutes of stage time: when each count is reached is not
    compared.
    """
    arguments = ("--jobs", str(JOBS), "--late", "0", "--speed", "60", "--json", "--out", tmp_path / "demo")
    done = command("demo", *arguments, state=tmp_path, within_s=380)
    assert done.returncode == 0, done.stderr
    local = json.loads(done.stdout)
    simulated = stage_from("local", read(stage("local").folder))
    # A block has two checks.
    blocks = [len(drawing.blocks) for drawing in DemoPlan(burst_jobs=JOBS, late_jobs=0).drawings()]
    burst = Workload(
        name="burst",
        arrivals_s=tuple(float(n) for n in range(JOBS)),
        job=JobShape(blocks=(2 * min(blocks), 2 * max(blocks)), calls=((1, 1.0),)),
    )
    outcome = simulate(burst, headway(simulated), quota=simulated.quota_calls, seed=1)
    assert local["peak_in_flight"] == outcome.peak_in_flight == 24
    assert local["peak_tasks"] == outcome.peak_tasks == 6
    assert local["jobs_succeeded"] == outcome.jobs_finished == JOBS
    assert (local["samples_over_quota"], outcome.over_quota) == (0, 0)
    assert (local["busy_tasks_stopped"], outcome.busy_stops) == (0, 0)
