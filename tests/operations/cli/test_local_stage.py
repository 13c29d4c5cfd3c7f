"""The whole stage, by its commands: up, submit, status, poison, kill -9, down, demo, Ctrl-C."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from headway_ops.demo.drawings import Drawing, draw
from headway_ops.local.observe import Observer
from headway_ops.local.running import LocalStage
from tests.operations.cli.running import HEADWAY, attach, environment, headway, left_over
from tests.runtime.support.waiting import until

pytestmark = [pytest.mark.local_stage, pytest.mark.timeout(400)]

SPEED = "150"
DRAWINGS = {drawing.name: drawing for drawing in (draw(1, blocks=2), draw(2, blocks=3, pdf=True))}


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this module's stages live."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def stage(state: Path) -> Iterator[LocalStage]:
    """A stage that ``headway up`` left running."""
    done = headway("up", "--speed", SPEED, "--json", state=state)
    assert done.returncode == 0, done.stderr
    running = attach(state)
    told = json.loads(done.stdout)
    assert (told["endpoint"], told["web"]) == (running.emulator.endpoint, running.web_url)
    yield running
    headway("down", state=state)


def jobs(state: Path) -> dict[str, dict[str, Any]]:
    """Return all jobs by name, as ``headway status --json`` tells them."""
    return {job["name"]: job for job in json.loads(headway("status", "--json", state=state).stdout)}


def counts(view: dict[str, Any]) -> list[tuple[int, int]]:
    """Return (bars, openings) of each block of a job, as ``headway status JOB --json`` tells them."""
    return [
        tuple(
            next(s["result"]["count"] for s in block["steps"] if s["check_name"] == name)
            for name in ("bars", "openings")
        )
        for block in view["blocks"]
    ]


def truth(drawing: Drawing) -> list[tuple[int, int]]:
    """Return (bars, openings) of each block of a drawing."""
    return [(block.bars, block.openings) for block in drawing.blocks]


def test_a_second_stage_of_the_same_name_is_refused(stage: LocalStage, state: Path) -> None:
    """One line, exit 3: the first goes on."""
    done = headway("up", state=state)
    assert done.returncode == 3
    assert done.stderr == "headway: stage local is running already: headway down --stage local ends it\n"


def test_drawings_are_submitted_and_every_result_is_the_truth(stage: LocalStage, state: Path) -> None:
    """A PNG and a PDF go through both lanes and real workers; each block's counts are what was drawn."""
    for name, drawing in DRAWINGS.items():
        (state / name).write_bytes(drawing.data)
    done = headway("submit", *(state / name for name in DRAWINGS), "--json", state=state)
    assert done.returncode == 0, done.stderr
    ids = [json.loads(line)["job"] for line in done.stdout.splitlines()]
    until(lambda: all(jobs(state)[name]["status"] == "succeeded" for name in DRAWINGS), within_s=120)
    for job_id, drawing in zip(ids, DRAWINGS.values(), strict=True):
        view = json.loads(headway("status", job_id, "--json", state=state).stdout)
        assert counts(view) == truth(drawing)


def test_the_reconcilers_alarm_hears_of_its_runs(stage: LocalStage) -> None:
    """Its tasks are short and far apart, and print a metric each: their silence is no alarm on a healthy stage."""
    cloudwatch = stage.client("cloudwatch")

    def states() -> list[str]:
        alarms = cloudwatch.describe_alarms()["MetricAlarms"]
        return [alarm["StateValue"] for alarm in alarms if alarm.get("MetricName") == "ReconcilerRuns"]

    until(lambda: states() == ["OK"], within_s=60, what="the first run's metric")


def test_what_is_no_drawing_is_refused_at_submit_and_the_others_go_on(stage: LocalStage, state: Path) -> None:
    """Text, nothing, half a PNG, a PDF without pages, 50 MB of noise, no file: a line each; the good one goes on."""
    good = draw(3, blocks=2)
    files = {
        "text.png": b"not a drawing",
        "empty.png": b"",
        "truncated.png": good.data[: len(good.data) // 2],
        "pages.pdf": b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF",
        "noise.png": os.urandom(50_000_000),
        "good.png": good.data,
    }
    for name, data in files.items():
        (state / name).write_bytes(data)
    done = headway("submit", *(state / name for name in files), state / "missing.png", state=state)
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 1
    lines = done.stderr.splitlines()
    assert [Path(line.split(": ")[1]).name for line in lines] == [*list(files)[:5], "missing.png"]
    until(lambda: jobs(state)["good.png"]["status"] == "succeeded", within_s=120)


def test_the_web_service_takes_a_drawing_in_and_cancels_another(stage: LocalStage, state: Path) -> None:
    """Through the load balancer: one job's results are the truth, the other ends when it is told, by one event."""
    assert stage.web_url.startswith("http://127.0.0.1:")
    headers = {"Authorization": f"Bearer {stage.web_token}"}
    with httpx2.Client(base_url=stage.web_url, headers=headers, timeout=30) as web:
        until(lambda: web.get("/healthz").status_code == 200, within_s=60, what="the web service")
        drawing, other = draw(4, blocks=2), draw(5, blocks=6)
        ids = [web.post("/jobs", files={"file": (each.name, each.data)}).json()["id"] for each in (drawing, other)]
        canceled = [web.post(f"/jobs/{ids[1]}/cancel").json() for _ in range(2)]
        assert canceled[0] == canceled[1]
        assert canceled[0]["status"] == "canceled"
        with web.stream("GET", f"/jobs/{ids[0]}/events", timeout=120) as events:
            assert "event: end" in events.iter_lines()
        blocks = web.get(f"/jobs/{ids[0]}").json()["blocks"]
    found = [{step["check"]: step["result"]["count"] for step in block["steps"]} for block in blocks]
    assert [(block["bars"], block["openings"]) for block in found] == truth(drawing)
    assert jobs(state)[other.name]["status"] == "canceled"


def test_an_unknown_job_is_not_found(stage: LocalStage, state: Path) -> None:
    """One line, exit 1, for an id that is none and for one of nobody's."""
    for job_id in ("nonsense", "00000000-0000-0000-0000-000000000000"):
        done = headway("status", job_id, state=state)
        assert (done.returncode, done.stderr) == (1, f"headway: job {job_id} not found\n")


def test_poison_goes_to_the_dead_letter_queue_with_its_reason_and_the_worker_lives(
    stage: LocalStage, state: Path
) -> None:
    """A message that is not Celery's, and one that names an unknown task, are moved; the task runs on."""
    sqs = stage.client("sqs")
    observer = Observer(stage=stage, engine=None)  # type: ignore[arg-type]  # only the queues are asked for
    url = observer.producer.queue_urls["heavy"]
    policy = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["RedrivePolicy"])["Attributes"]["RedrivePolicy"]
    dead_letters = sqs.get_queue_url(QueueName=json.loads(policy)["deadLetterTargetArn"].rpartition(":")[2])["QueueUrl"]
    before = len(stage.events())
    sqs.send_message(QueueUrl=url, MessageBody="hello")
    (letter,) = until(lambda: _letters(sqs, dead_letters), within_s=60, what="a dead letter")
    assert letter["Body"] == "hello"
    assert letter["MessageAttributes"]["headway-reason"]["StringValue"]
    assert not [event for event in stage.events()[before:] if event["kind"] == "stopped" and not event["asked"]]


def _letters(sqs: Any, url: str) -> list[dict[str, Any]]:
    answer = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"])
    letters: list[dict[str, Any]] = answer.get("Messages", [])
    return letters


def test_after_kill_9_nothing_is_left_and_the_next_start_works(stage: LocalStage, state: Path) -> None:
    """The keeper is killed; its processes go with it, up works again, and down leaves no process and no port."""
    keeper = psutil.Process(int((state / "local.pid").read_text(encoding="ascii")))
    keeper.kill()
    keeper.wait(10)
    until(lambda: not left_over(state), within_s=30, what="processes left after kill -9")
    again = headway("up", "--speed", SPEED, state=state)
    assert again.returncode == 0, again.stderr
    assert jobs(state) == {}
    assert headway("down", state=state).returncode == 0
    until(lambda: not left_over(state), within_s=30, what="processes left after down")


def test_a_demo_is_right_in_every_figure(state: Path) -> None:
    """A small burst: exit 0, every step right and called once, within the quota, the fleet out and in again."""
    done = headway(
        "demo", "--jobs", "8", "--late", "1", "--speed", "200", "--json", "--out", state / "demo", state=state
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report == json.loads((state / "demo" / "report.json").read_text(encoding="utf-8"))
    assert "Tasks of the heavy lane" in (state / "demo" / "report.html").read_text(encoding="utf-8")
    # Two to four blocks a drawing by its number, two checks a block.
    steps = sum(2 * (2 + n % 3) for n in range(9))
    assert (report["jobs"], report["jobs_succeeded"], report["steps"], report["model_calls"]) == (9, 9, steps, steps)
    for name in ("steps_wrong", "steps_lost", "steps_called_twice", "samples_over_quota", "busy_tasks_stopped"):
        assert report[name] == 0
    assert report["peak_tasks"] > report["final_tasks"] == 1
    assert report["peak_in_flight"] <= report["quota"] == 24
    assert not left_over(state)


def test_ctrl_c_leaves_nothing(state: Path) -> None:
    """Interrupted in the middle of its deployment: exit 130, no traceback, no process."""
    process = subprocess.Popen([HEADWAY, "demo"], env=environment(state), stderr=subprocess.PIPE, text=True, cwd=state)
    assert process.stderr is not None
    said = ""
    while "deploying" not in said:
        said = process.stderr.readline()
        assert said, "the demo ended by itself"
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 130
    assert "Traceback" not in rest
    until(lambda: not left_over(state), within_s=20, what="processes left after Ctrl-C")
