"""The simulator reads a stage's numbers from its template, and refuses one that cannot be simulated."""

import json
import shutil
from pathlib import Path

import pytest

from headway_ops.local.errors import StageError
from headway_ops.loop import template
from headway_ops.simulate import SimulatedStage, stage_from
from headway_ops.simulate.assembly import Assembly, read
from stacks.loading import load_stage
from tests.synth import stage, synthesize, varied


def test_every_number_of_the_template_arrives(prod: SimulatedStage) -> None:
    """Slots, quota, bounds, cadence, leases and stop timeout are those that stages.toml has for prod."""
    settings = load_stage("prod")
    heavy, lane = settings.services.heavy, settings.lanes.heavy
    assert prod.heavy.concurrency == heavy.concurrency
    assert prod.heavy.stop_timeout_s == heavy.stop_timeout_s
    assert prod.heavy.protection_s == heavy.protection_min * 60
    assert (prod.heavy.lane.visibility_timeout_s, prod.heavy.lane.max_receives) == (
        lane.visibility_timeout_s,
        lane.max_receives,
    )
    assert prod.fast is not None
    assert (prod.fast.tasks, prod.fast.concurrency, prod.fast.protection_s) == (2, 32, 0)
    assert prod.scaling.plan == settings.plan
    assert prod.scaling.publish_every_s == settings.scaling.publish_every_s
    assert (prod.scaling.target.min_capacity, prod.scaling.target.max_capacity) == (1, 15)
    assert {alarm.metric.name for alarm in prod.scaling.alarms} == {"ScaleOutTo", "ScaleInTo"}


def test_one_changed_number_of_the_settings_follows() -> None:
    """With half the quota the template's target, and the simulator's with it, ends at half the tasks."""
    halved = synthesize(varied(load_stage("prod"), model__quota_calls=60))
    simulated = stage_from("prod", read(halved.folder))
    assert (simulated.quota_calls, simulated.scaling.target.max_capacity) == (60, 7)


def test_a_stage_without_a_fast_lane_has_one_service() -> None:
    """With the rollout switch off nothing consumes a second lane."""
    assert stage_from("dev", read(synthesize(varied(load_stage("dev"), fast_lane="off")).folder)).fast is None


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (template.POLICY, "stage = 'prod': its template has no scaling policy; add headway_cdk.BacklogScaling"),
        ("AWS::Lambda::Function", "stage = 'prod': its template has no backlog publisher; add headway_cdk.Backlog"),
        ("AWS::ECS::Service", "stage = 'prod': its template has no service for the heavy lane; add one"),
    ],
)
def test_a_template_that_lacks_a_part_is_one_line(kind: str, says: str) -> None:
    """Without a policy, a publisher or a service there is nothing to simulate: exit 3 and what to add."""
    whole = read(stage("prod").folder)
    without = {
        name: {**body, "Resources": {k: r for k, r in body.get("Resources", {}).items() if r["Type"] != kind}}
        for name, body in whole.templates.items()
    }
    with pytest.raises(StageError) as refused:
        stage_from("prod", Assembly(without))
    assert str(refused.value).startswith(says)
    assert refused.value.exit_code == 3


def test_a_folder_without_an_assembly_is_one_line(tmp_path: Path) -> None:
    """A missing folder, and one whose manifest is no JSON."""
    with pytest.raises(StageError, match="no cloud assembly of a stage"):
        read(tmp_path / "nowhere")
    (tmp_path / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(StageError, match="no cloud assembly of a stage"):
        read(tmp_path)


def test_references_between_stacks_name_the_same_queue(tmp_path: Path) -> None:
    """The publisher's and the worker's queue is the one whose visibility timeout is read, by any path to it."""
    folder = tmp_path / "assembly"
    shutil.copytree(stage("prod").folder, folder)
    queues = next(folder.glob("*Queues*.template.json"))
    body = json.loads(queues.read_text(encoding="utf-8"))
    for logical_id, resource in body["Resources"].items():
        if logical_id.startswith("HeavyQueue"):
            resource["Properties"]["VisibilityTimeout"] = 77
    queues.write_text(json.dumps(body), encoding="utf-8")
    simulated = stage_from("prod", read(folder))
    assert simulated.heavy.lane.visibility_timeout_s == 77
    assert simulated.fast is not None
    assert simulated.fast.lane.visibility_timeout_s == 120
