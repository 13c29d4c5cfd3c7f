"""Messages that were lost are sent once more, on real PostgreSQL and the emulator's SQS."""

import contextlib
from collections.abc import Iterator
from uuid import UUID

import pytest
import sqlalchemy as sa

from headway.contract import ReconcilerEnv
from headway.jobs import claim_step, release_step
from headway.reconciler.counts import Counts
from headway.reconciler.lanes import Lanes
from headway.reconciler.letters import read_letter
from headway.reconciler.lost import requeue, would_requeue
from tests.runtime.jobs.cases import claimed, cut_job, new_job
from tests.runtime.reconciler.ages import age
from tests.runtime.support.stage import Stage

_LEASE_S = 120.0


def reconciler_env(stage: Stage) -> ReconcilerEnv:
    """Return the reconciler's environment in a stage."""
    return ReconcilerEnv(
        stage="test",
        region="us-east-1",
        queue_urls=stage.queue_urls,
        dead_letter_urls=stage.dead_letter_urls,
        fast_queue="fast",
        idle_limit_s=3_600,
        lease_s=120,
    )


def sent(stage: Stage, lane: str) -> list[UUID]:
    """Take a lane's visible messages, and return the ids that their tasks were sent with."""
    answer = stage.sqs.receive_message(QueueUrl=stage.queue_urls[lane], MaxNumberOfMessages=10)
    letters = [read_letter(message["Body"]) for message in answer.get("Messages", ())]
    return [letter.id for letter in letters if letter]


@pytest.fixture
def lanes(stage: Stage) -> Iterator[Lanes]:
    """The stage's lanes."""
    with contextlib.closing(Lanes(reconciler_env(stage))) as made:
        yield made


def _requeued(stage: Stage, lanes: Lanes) -> int:
    counts = Counts()
    requeue(stage.engine, lanes, counts, lanes_empty=lanes.empty(), lease_s=_LEASE_S)
    assert counts.errors == 0
    return counts.requeued


def test_a_job_whose_message_was_never_sent_is_sent(stage: Stage, owner: sa.Engine, lanes: Lanes) -> None:
    """Its COMMIT had no answer, so its sender gave up: after a lease it is sent, to the lane of the switch, once."""
    job_id = new_job(stage.engine)
    assert _requeued(stage, lanes) == 0
    age(owner, job_id, minutes=3)
    assert _requeued(stage, lanes) == 1
    assert sent(stage, "fast") == [job_id]
    stage.sqs.purge_queue(QueueUrl=stage.queue_urls["fast"])
    age(owner, job_id, minutes=3)
    assert _requeued(stage, lanes) == 0


def test_a_step_is_sent_once_more_for_each_attempt(stage: Stage, owner: sa.Engine, lanes: Lanes) -> None:
    """Lost before its first attempt and before its second: one message each, never two."""
    job_id, (step_id,) = cut_job(stage.engine)
    age(owner, job_id, minutes=3)
    for attempt in (1, 2):
        assert [_requeued(stage, lanes), _requeued(stage, lanes)] == [1, 0]
        assert sent(stage, "heavy") == [step_id]
        stage.sqs.purge_queue(QueueUrl=stage.queue_urls["heavy"])
        age(owner, job_id, minutes=3)
        assert _requeued(stage, lanes) == 0
        claim = claimed(stage.engine, step_id)
        assert claim.attempt == attempt
        release_step(stage.engine, claim, reason="refused")
        age(owner, job_id, minutes=3)


def test_what_is_held_or_new_is_not_lost(stage: Stage, owner: sa.Engine, lanes: Lanes) -> None:
    """A step that a worker holds, and one that became pending just now."""
    job_id, (held, _) = cut_job(stage.engine, blocks=2)
    assert _requeued(stage, lanes) == 0
    age(owner, job_id, minutes=3)
    claim_step(stage.engine, held, lease_s=600)
    assert _requeued(stage, lanes) == 1


def test_with_messages_in_a_lane_only_the_overtaken_are_lost(stage: Stage, owner: sa.Engine, lanes: Lanes) -> None:
    """Somebody's message is there, and nobody knows whose: a step is lost once others, later by a lease, had a turn."""
    job_id, (step_id,) = cut_job(stage.engine)
    age(owner, job_id, minutes=3)
    stage.send_body("somebody's")
    assert _requeued(stage, lanes) == 0
    _, (later,) = cut_job(stage.engine)
    claimed(stage.engine, later)
    assert _requeued(stage, lanes) == 1
    assert sent(stage, "heavy") == [step_id]


def test_a_dry_run_sends_nothing(stage: Stage, owner: sa.Engine, lanes: Lanes) -> None:
    """It names the job and the step."""
    unsent, (cut, (step_id,)) = new_job(stage.engine), cut_job(stage.engine)
    for job_id in (unsent, cut):
        age(owner, job_id, minutes=3)
    counts = Counts()
    would_requeue(stage.engine, counts, lanes_empty=lanes.empty(), lease_s=_LEASE_S)
    assert counts.would_requeue == [unsent, step_id]
    assert lanes.empty()
