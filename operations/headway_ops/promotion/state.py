"""What is deployed, as the promotion's rules see it."""

import json
from collections.abc import Mapping
from typing import Any

from headway.contract import ReconcilerEnv
from headway_ops.deployed import LANES, DeployedStage, Stack
from headway_ops.deployed.lanes import read_queue
from headway_ops.doctor.release import check_release
from headway_ops.promotion.rules import Phase, Promotion, StackState


def promotion_of(stage: DeployedStage, templates: Mapping[str, Mapping[str, Any]]) -> Promotion:
    """Return a stage's state beside the release that ``templates`` (by stack name) are."""
    states = {}
    for name, template in templates.items():
        short = name.removeprefix(f"headway-{stage.name}-")
        states[short] = _state(short, template, stage.stacks.get(short))
    return Promotion(stacks=states, held=_held(stage))


def lanes_of(short: str, template: Mapping[str, Any]) -> frozenset[str]:
    """Return the lanes that a template has queues or workers for."""
    match short:
        case "queues":
            names = [name for name, resource in template["Resources"].items() if resource["Type"] == "AWS::SQS::Queue"]
            return frozenset(
                lane for lane in LANES if any(name.startswith(f"{lane.capitalize()}Queue") for name in names)
            )
        case "consumer":
            return frozenset(_variables(template, "HEADWAY_LANE"))
        case _:
            return frozenset()


def _held(stage: DeployedStage) -> Mapping[str, int]:
    """Return what each lane holds, also one that only the consumer still knows: its queue is retained."""
    held = {lane: found.queue.held for lane, found in stage.lanes.items()}
    if "consumer" in stage.stacks:
        known = ReconcilerEnv.from_env(json.loads(stage.stacks["consumer"].outputs["ReconcilerEnvironment"]))
        for lane in known.queue_urls.keys() - held.keys():
            held[lane] = read_queue(stage.client("sqs"), known.queue_urls[lane]).held
    return held


def _state(short: str, template: Mapping[str, Any], stack: Stack | None) -> StackState:
    if stack is None:
        return StackState()
    phase = Phase.SETTLED if stack.settled else Phase.MOVING if stack.moving else Phase.FAILED
    return StackState(
        phase=phase,
        lanes=lanes_of(short, stack.template),
        sends=frozenset(_variables(stack.template, "FAST_QUEUE")),
        released=not any(check_release(template, stack, short)),
    )


def _variables(template: Mapping[str, Any], name: str) -> set[str]:
    """Return the values that a template's containers are given for a variable, where they are plain text."""
    return {
        pair["Value"]
        for resource in template.get("Resources", {}).values()
        if resource["Type"] == "AWS::ECS::TaskDefinition"
        for container in resource["Properties"]["ContainerDefinitions"]
        for pair in container.get("Environment", ())
        if pair["Name"] == name and isinstance(pair["Value"], str)
    }
