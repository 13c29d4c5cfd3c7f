"""The queue stack: one lane for each the stage consumes, from the same settings as its consumers."""

import pytest

from stacks.loading import load_stage
from tests.synth import stage, synthesize, text, varied

STAGES = ("dev", "prod", "local")


@pytest.mark.parametrize("name", STAGES)
def test_queue_and_consumer_are_configured_from_one_number(name: str) -> None:
    """Visibility timeout and long poll are the same on each lane's queue and in its worker's environment."""
    built, settings = stage(name), load_stage(name)
    queues = built.of("queues", "AWS::SQS::Queue")
    definitions = built.of("consumer", "AWS::ECS::TaskDefinition")
    for lane in settings.consumed_lanes:
        queue = next(q for key, q in queues.items() if key.startswith(f"{lane.capitalize()}Queue"))
        definition = next(d for key, d in definitions.items() if key.startswith(lane.capitalize()))
        told = {e["Name"]: text(e["Value"]) for e in definition["ContainerDefinitions"][0]["Environment"]}
        assert str(queue["VisibilityTimeout"]) == told["HEADWAY_VISIBILITY_TIMEOUT_S"]
        assert str(queue["ReceiveMessageWaitTimeSeconds"]) == told["HEADWAY_WAIT_TIME_S"]


@pytest.mark.parametrize("name", STAGES)
def test_evidence_outlives_the_message(name: str) -> None:
    """A dead letter keeps its first enqueue time, so its queue keeps it longer than the lane does."""
    queues = stage(name).of("queues", "AWS::SQS::Queue")
    for lane in ("Heavy", "Fast"):
        live = next(q for key, q in queues.items() if key.startswith(f"{lane}Queue"))
        dead = next(q for key, q in queues.items() if key.startswith(f"{lane}DeadLetters"))
        assert dead["MessageRetentionPeriod"] > live["MessageRetentionPeriod"]


def test_stateful_queues_keep_their_logical_ids() -> None:
    """A changed logical id would replace a queue and strand its messages."""
    assert set(stage("prod").of("queues", "AWS::SQS::Queue")) == {
        "HeavyQueueAC2C556C",
        "HeavyDeadLetters1DE7890B",
        "FastQueueD868E7C9",
        "FastDeadLetters3522F398",
    }


def test_given_queue_name_reaches_the_queue() -> None:
    """A name in the settings is the queue's name."""
    named = synthesize(varied(load_stage("dev"), lanes__heavy__queue_name="jobs"))
    assert "jobs" in [queue.get("QueueName") for queue in named.of("queues", "AWS::SQS::Queue").values()]
