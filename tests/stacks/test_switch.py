"""The rollout switch: off has one lane; ready has two, and nobody sends to the fast one; on sends to it."""

import json
from typing import Any

import pytest

from headway.contract import ProducerEnv
from stacks.loading import load_stage
from tests.synth import Synthesized, synthesize, text, varied


@pytest.fixture(scope="module", params=["off", "ready", "on"])
def switched(request: pytest.FixtureRequest) -> tuple[str, Synthesized]:
    """The dev stage at each position of its switch."""
    return request.param, synthesize(varied(load_stage("dev"), fast_lane=request.param))


def producer_env(built: Synthesized) -> ProducerEnv:
    """Return what the producer's output tells whatever submits jobs."""
    output = built.templates["producer"]["Outputs"]["ProducerEnvironment"]["Value"]
    return ProducerEnv.from_env(json.loads(text(output)))


def test_lanes_and_services_exist_from_ready_on(switched: tuple[str, Synthesized]) -> None:
    """Off: one lane (two queues) and one service; ready and on: two of each."""
    position, built = switched
    lanes = 1 if position == "off" else 2
    assert len(built.of("queues", "AWS::SQS::Queue")) == 2 * lanes
    assert len(built.of("consumer", "AWS::ECS::Service")) == lanes


def test_producers_use_the_fast_lane_only_when_on(switched: tuple[str, Synthesized]) -> None:
    """FAST_QUEUE is set at "on" alone, so at "ready" consumers wait before anything is sent."""
    position, built = switched
    assert producer_env(built).fast_queue == ("fast" if position == "on" else "")


def test_both_sides_know_every_lane_that_exists(switched: tuple[str, Synthesized]) -> None:
    """Workers and producers hold the URLs of the same lanes, so that a stray message can be acknowledged."""
    position, built = switched
    lanes = {"heavy"} if position == "off" else {"heavy", "fast"}
    assert set(producer_env(built).queue_urls) == lanes
    definitions = built.of("consumer", "AWS::ECS::TaskDefinition")
    for name, definition in definitions.items():
        told: dict[str, Any] = {
            e["Name"]: text(e["Value"]) for e in definition["ContainerDefinitions"][0].get("Environment", ())
        }
        if name.startswith("Migration"):
            assert not told
            continue
        assert set(json.loads(told["HEADWAY_QUEUE_URLS"])) == lanes
        assert set(json.loads(told["HEADWAY_DEAD_LETTER_URLS"])) == lanes
        # Workers send to the main lane alone; what the reconciler sends once more goes where a sender would send it.
        assert told.get("FAST_QUEUE") == ("fast" if name.startswith("Reconciler") and position == "on" else None)
