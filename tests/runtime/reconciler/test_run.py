"""The whole run, as the schedule starts it: dead letters, lost messages and silent jobs, one line of metrics."""

import json
import os
import subprocess
import sys

import pytest
import sqlalchemy as sa

from headway.jobs import finish_step, job_view
from headway.producer.broker import BLOCKSPLIT, RUN_STEP
from headway.reconciler.run import reconcile
from tests.runtime.jobs.cases import claimed, cut_job, history, new_job, status_of
from tests.runtime.reconciler.ages import age
from tests.runtime.reconciler.test_lost import reconciler_env
from tests.runtime.support.stage import KEYS, Stage, celery_body


def _bury(stage: Stage, task: str, row_id: object) -> None:
    body = celery_body(task, [str(row_id)], "heavy")
    stage.sqs.send_message(QueueUrl=stage.dead_letter_urls["heavy"], MessageBody=body)


def test_a_step_among_the_dead_letters_fails_and_its_job_with_it(stage: Stage) -> None:
    """Once its other steps have ended: their answers are worth having. The dead letter stays for people to see."""
    job_id, (dead, other) = cut_job(stage.engine, blocks=2)
    _bury(stage, RUN_STEP, dead)
    assert reconcile(reconciler_env(stage), stage.secret).buried == 1
    assert (status_of(stage.engine, dead), status_of(stage.engine, job_id)) == ("failed", "running")
    assert history(stage.engine, dead)[-1] == ("pending", "failed")
    finish_step(stage.engine, claimed(stage.engine, other), result={"count": 1})
    assert status_of(stage.engine, job_id) == "failed"
    view = job_view(stage.engine, job_id)
    assert view is not None
    assert view.blocks[0].steps[0].reason == "its message is among the dead letters: received too often"
    counted = stage.sqs.get_queue_attributes(QueueUrl=stage.dead_letter_urls["heavy"], AttributeNames=["All"])
    assert counted["Attributes"]["ApproximateNumberOfMessagesNotVisible"] == "1"


def test_a_job_among_the_dead_letters_fails(stage: Stage) -> None:
    """Its drawing will never be split."""
    job_id = new_job(stage.engine)
    _bury(stage, BLOCKSPLIT, job_id)
    assert reconcile(reconciler_env(stage), stage.secret).buried == 1
    assert status_of(stage.engine, job_id) == "failed"


@pytest.mark.parametrize("state", ["held", "finished"])
def test_a_dead_letter_beside_a_living_step_changes_nothing(stage: Stage, state: str) -> None:
    """A duplicate was received too often; the step is held by a worker, or done."""
    job_id, (step_id, _) = cut_job(stage.engine, blocks=2)
    claim = claimed(stage.engine, step_id)
    if state == "finished":
        finish_step(stage.engine, claim, result={"count": 1})
    _bury(stage, RUN_STEP, step_id)
    assert reconcile(reconciler_env(stage), stage.secret).buried == 0
    assert status_of(stage.engine, job_id) == "running"


def test_strangers_among_the_dead_letters_are_passed_over(stage: Stage) -> None:
    """No JSON, no task of ours, no id: neither an error nor a failed job."""
    for body in ("", "[1]", '{"body": "?"}', celery_body(RUN_STEP, ["no id"], "heavy"), celery_body("x", [], "heavy")):
        stage.sqs.send_message(QueueUrl=stage.dead_letter_urls["heavy"], MessageBody=body or "no JSON")
    counts = reconcile(reconciler_env(stage), stage.secret)
    assert (counts.buried, counts.errors) == (0, 0)


def _run(stage: Stage, **changed: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "headway.reconciler"],
        env={
            "PATH": os.environ["PATH"],
            "AWS_ENDPOINT_URL": stage.endpoint,
            **KEYS,
            **reconciler_env(stage).to_env(),
            **stage.secret.to_env(),
            **changed,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_one_run_writes_one_metric_line(stage: Stage, owner: sa.Engine) -> None:
    """A silent job, a lost message and a dead letter: each counted, for CloudWatch's metrics of the stage."""
    silent, (step_id, *_) = cut_job(stage.engine)
    claimed(stage.engine, step_id, lease_s=0.0)
    age(owner, silent, minutes=61)
    lost, dead = new_job(stage.engine), new_job(stage.engine)
    age(owner, lost, minutes=3)
    _bury(stage, BLOCKSPLIT, dead)
    code, out, err = _run(stage)
    assert (code, out.count("\n")) == (0, 1), err
    line = json.loads(out)
    (metrics,) = line["_aws"]["CloudWatchMetrics"]
    assert (metrics["Namespace"], metrics["Dimensions"], line["Stage"]) == ("Headway", [["Stage"]], "test")
    counted = {metric["Name"]: line[metric["Name"]] for metric in metrics["Metrics"]}
    assert counted == {
        "ReconcilerRuns": [1.0],
        "JobsSwept": [1.0],
        "JobsReprieved": [0.0],
        "MessagesRequeued": [1.0],
        "StepsBuried": [1.0],
        "ReconcilerErrors": [0.0],
    }
    assert [status_of(stage.engine, job) for job in (silent, lost, dead)] == ["canceled", "pending", "failed"]


def test_what_is_wrong_is_one_line(stage: Stage) -> None:
    """Exit 3 for the configuration, 4 for a job store that does not answer."""
    code, out, err = _run(stage, HEADWAY_IDLE_LIMIT_S="an hour")
    assert (code, out) == (3, "")
    assert err == "headway.reconciler: HEADWAY_IDLE_LIMIT_S must be an integer, got 'an hour'\n"
    code, out, err = _run(stage, DATABASE_PORT="1")
    assert (code, out, err.count("\n")) == (4, "", 1)


def test_silent_lanes_are_an_error_and_end_no_job(stage: Stage, owner: sa.Engine) -> None:
    """Whether a job waits for its turn is not known."""
    silent, _ = cut_job(stage.engine)
    age(owner, silent, minutes=61)
    code, out, _ = _run(stage, AWS_ENDPOINT_URL="http://127.0.0.1:1")
    assert (code, json.loads(out)["ReconcilerErrors"]) == (0, [1.0])
    assert status_of(stage.engine, silent) == "running"
