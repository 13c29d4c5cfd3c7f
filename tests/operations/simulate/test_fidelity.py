"""The simulator and the local stage, at sixty times true time, make the same of one burst."""

import json
from bisect import bisect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from headway.scaling import metrics
from headway_ops.demo.run import DemoPlan
from headway_ops.simulate import SimulatedStage, simulate, stage_from
from headway_ops.simulate.assembly import read
from headway_ops.simulate.policies import headway
from headway_ops.simulate.workload import JobShape, Workload
from tests.operations.cli.running import headway as command
from tests.synth import stage

pytestmark = [pytest.mark.local_stage, pytest.mark.timeout(400)]

JOBS = 6


def scaled(events: list[Mapping[str, Any]]) -> list[tuple[float, int]]:
    """Return when the local stage's desired count changed, in stage seconds, and to what."""
    return [(event["at"], int(event["after"])) for event in events if event["kind"] in ("scale-out", "scale-in")]


def replayed(stage: SimulatedStage, events: list[Mapping[str, Any]]) -> Iterator[tuple[float, int]]:
    """Yield when the simulator's loop changes the desired count on the readings that the local stage published."""
    loop = stage.scaling.loop()
    keys = {alarm.metric.name: alarm.metric for alarm in stage.scaling.alarms}
    published = [(event["at"], event["subject"], event["value"]) for event in events if event["kind"] == "published"]
    for second in range(int(published[0][0]), int(published[-1][0]) + 2 * stage.scaling.publish_every_s):
        while published and published[0][0] < second:
            at, name, value = published.pop(0)
            loop.put(keys[name], value, at)
        for event in loop.step(second):
            if event.kind != "alarm":
                yield event.at, int(event.after)


def test_both_make_the_same_of_a_burst(tmp_path: Path) -> None:
    """Both fill the quota and never pass it, go out to the cap, finish every job, and stop nothing at work.

    The laptop's own seconds, in which its processes begin, are minutes of stage time, so that the backlog is not the
    simulated one to the second. On the readings that were published, the simulator's loop makes the same changes of
    the desired count, each at most one reading later or sooner: by the clock, a tenth of a second in which the laptop
    does something else would be six.
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
    events = [json.loads(line) for line in (tmp_path / "demo" / "events.jsonl").read_text("utf-8").splitlines()]
    there, here = scaled(events), list(replayed(simulated, events))
    assert [count for _, count in there] == [count for _, count in here]
    readings = [event["at"] for event in events if event["subject"] == metrics.SCALE_OUT_TO.name]
    apart = [abs(bisect(readings, a) - bisect(readings, b)) for (a, _), (b, _) in zip(there, here, strict=True)]
    assert max(apart) <= 1
