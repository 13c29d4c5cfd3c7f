"""A running local stage under the commands that promote one: verify, doctor, rollout."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
import typer

from headway_ops.cli import rollout
from stacks.loading import STAGES_FILE, load_stage
from tests.operations.cli.running import attach, headway
from tests.runtime.support.waiting import until
from tests.synth import varied

pytestmark = [pytest.mark.local_stage, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A local stage that runs, and where its files are."""
    folder = tmp_path_factory.mktemp("state")
    done = headway("up", "--speed", "60", state=folder)
    assert done.returncode == 0, done.stderr
    yield folder
    headway("down", state=folder)


@pytest.mark.parametrize("stack", ["network", "queues", "jobstore", "consumer", "producer"])
def test_every_step_of_a_deployed_stage_is_proven(stack: str, state: Path) -> None:
    """Exit 0 and no finding; the consumer's step also waits for what its tasks have only begun."""
    done = headway("verify", "--stage", "local", "--after", stack, "--assembly", assembly(state), state=state)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_the_producers_proof_is_a_job(state: Path) -> None:
    """The step before sent one small drawing through both lanes: it has succeeded."""
    jobs = json.loads(headway("status", "--json", state=state).stdout)
    assert [(job["name"], job["status"]) for job in jobs] == [("canary.png", "succeeded")]


def test_a_deployed_stage_may_be_deployed_again(state: Path) -> None:
    """Nothing stands against the step; without a folder the app is synthesized."""
    done = headway("verify", "--stage", "local", "--before", "consumer", "--json", state=state)
    assert (done.returncode, json.loads(done.stdout)) == (0, {"findings": [], "notices": []})


def test_the_doctor_shows_every_number_and_finds_nothing(state: Path) -> None:
    """Until both workers have reported; then 20 s of long poll stand in all four places."""
    command = ("doctor", "--stage", "local", "--assembly", assembly(state))
    until(lambda: headway(*command, state=state).returncode == 0, within_s=60, what="no finding")
    shown = headway(*command, state=state).stdout
    line = next(line for line in shown.splitlines() if "lanes.heavy.wait_time_s" in line and line.count("20") == 4)
    assert line.split("│")[1].strip() == "heavy"


def test_a_drift_is_exit_1_and_one_line(state: Path) -> None:
    """Somebody turns the fast lane's long poll off by hand: the doctor and the queues' step say so by the same name."""
    running = attach(state)
    sqs = running.client("sqs")
    url = next(url for url in sqs.list_queues()["QueueUrls"] if "-Fast-" in url)
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"ReceiveMessageWaitTimeSeconds": "0"})
    says = "long-poll: fast: wait_time_s is 0 on the queue, lanes.fast.wait_time_s says 5"
    done = headway("doctor", "--stage", "local", "--assembly", assembly(state), state=state)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, says)
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"ReceiveMessageWaitTimeSeconds": "5"})


def test_one_step_of_the_switch_is_one_changed_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From on to ready: shown as a difference, with what to deploy next."""
    path = tmp_path / "stages.toml"
    path.write_text(STAGES_FILE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(rollout, "STAGES_FILE", path)
    rollout.fast_lane(rollout.Position("ready"), stage="local")
    shown = capsys.readouterr()
    changes = [line for line in shown.out.splitlines() if line[0] in "+-" and line[:3] not in ("+++", "---")]
    assert changes == ['+fast_lane = "ready"']
    assert "cdk deploy 'local/*'" in shown.err


def test_a_lane_is_not_left_while_the_deployed_stage_sends_to_it(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As if stages.toml said ready and nobody had deployed it: both senders are named, and no file is touched."""
    ready = varied(load_stage("local"), fast_lane="ready")
    monkeypatch.setattr(rollout, "load_stage", lambda stage: ready)
    monkeypatch.setattr(rollout, "STAGES_FILE", state / "none")
    # The command enters the stage, which this process then leaves.
    with patch.dict(os.environ, HEADWAY_STATE=str(state)), pytest.raises(typer.Exit) as refused:
        rollout.fast_lane(rollout.Position("off"), stage="local", assembly=assembly(state))
    assert refused.value.exit_code == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{sender} still sends to lane fast: deploy it with fast_lane = 'ready' first"
        for sender in ("consumer", "producer")
    ]


def assembly(state: Path) -> Path:
    """Return the cloud assembly that the stage was deployed from."""
    return state / "local" / "cdk.out"
