"""A stage small enough to be deployed a thousand times: CloudFormation and SQS are real, work is a receive.

Its templates are the stage's own, cut down to queues, bucket, task definitions and outputs, and put into the emulated
account through the CloudFormation API. What a deployed consumer's definitions name, ``work`` receives and deletes;
where a deployed producer's environment points, ``send`` sends.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from headway.contract import BrokerEnv, ProducerEnv, ReconcilerEnv
from headway.producer.routing import choose_lane
from headway_ops.deployed import DeployedStage, Stack
from headway_ops.deployed.services import read_definition
from headway_ops.deployed.stack import read_stack
from headway_ops.promotion import Promotion, lanes_of, promotion_of
from stacks.loading import load_stage
from tests.runtime.support.waiting import until
from tests.synth import synthesize, varied

LEVELS = ("off", "ready", "on")
STACKS = ("queues", "jobstore", "consumer", "producer")

_KEPT = ("AWS::SQS::Queue", "AWS::ECS::TaskDefinition", "AWS::S3::Bucket")


@cache
def _templates(level: str) -> Mapping[str, str]:
    """Return each stack's small template for a position of the switch, as text."""
    whole = synthesize(varied(load_stage("local"), fast_lane=level)).templates
    return {short: json.dumps(_cut(whole[short])) for short in STACKS}


@cache
def templates(stage: str, level: str) -> Mapping[str, dict[str, Any]]:
    """Return a stage's small templates by stack name."""
    return {
        f"headway-{stage}-{short}": json.loads(text.replace("headway-local-", f"headway-{stage}-"))
        for short, text in _templates(level).items()
    }


def _cut(template: Mapping[str, Any]) -> dict[str, Any]:
    kept = {
        logical_id: {**resource, "Properties": _properties(resource)}
        for logical_id, resource in template["Resources"].items()
        if resource["Type"] in _KEPT and not resource.get("DependsOn")
    }
    outputs = {
        name: output
        for name, output in template.get("Outputs", {}).items()
        if "Environment" in name or _named(output["Value"]) <= kept.keys()
    }
    return {"Resources": kept, "Outputs": outputs}


def _properties(resource: Mapping[str, Any]) -> dict[str, Any]:
    properties = resource["Properties"]
    if resource["Type"] != "AWS::ECS::TaskDefinition":
        return {} if resource["Type"] == "AWS::S3::Bucket" else dict(properties)
    (container, *_) = properties["ContainerDefinitions"]
    told = container.get("Environment", ())
    return {"Family": properties["Family"], "ContainerDefinitions": [{"Name": "c", "Image": "i", "Environment": told}]}


def _named(value: Any) -> set[str]:
    """Return the logical ids that a value refers to in its own stack."""
    match value:
        case {"Ref": str(name)}:
            return set() if name.startswith("AWS::") else {name}
        case {"Fn::GetAtt": [str(name), _]}:
            return {name}
        case dict():
            return set().union(*map(_named, value.values()))
        case list():
            return set().union(*map(_named, value))
        case _:
            return set()


def _at_rest(stack: Stack | None) -> Stack | None:
    return stack if stack and not stack.moving else None


class Shop:
    """One stage of the emulated account."""

    def __init__(self, name: str, client: Any) -> None:
        self.name, self.client = name, client
        self.sent = self.worked = 0
        self._stacks: dict[str, Stack] = {}

    def look(self) -> DeployedStage:
        """Return a look at the stage; a stack is read again when it was deployed: nobody else changes it."""
        stage = DeployedStage(self.name, self.client)
        stage.stacks = self._stacks
        return stage

    def state(self, level: str) -> Promotion:
        """Return how far the stage is, beside the release of a position of the switch."""
        return promotion_of(self.look(), templates(self.name, level))

    def refusals(self, stack: str, level: str) -> list[str]:
        """Return what the promotion's rules say against deploying a stack for a position of the switch."""
        template = templates(self.name, level)[f"headway-{self.name}-{stack}"]
        return list(self.state(level).before(stack, lanes_of(stack, template)))

    def next(self, level: str) -> str:
        """Return the first stack that is not of the release of a position yet."""
        states = self.state(level).stacks
        return next((stack for stack in STACKS if not states[stack].released), STACKS[0])

    def healthy(self) -> bool:
        """Return whether every stack has settled, and every lane that is sent to is consumed."""
        states = self.state(LEVELS[0])
        sent = states.of("producer").sends | states.of("consumer").sends
        return all(stack.settled for stack in self.look().stacks.values()) and sent <= states.of("consumer").lanes

    def deployed(self) -> dict[str, Any]:
        """Return the deployed templates by stack, as CloudFormation has them now."""
        return {short: stack.template for short, stack in DeployedStage(self.name, self.client).stacks.items()}

    def deploy(self, stack: str, level: str) -> bool:
        """Put a stack's template, whatever the rules say; return whether CloudFormation could."""
        cloudformation, name = self.client("cloudformation"), f"headway-{self.name}-{stack}"
        template = templates(self.name, level)[name]
        there = self._stacks.get(stack)
        if there and there.template == template:
            return True
        change = cloudformation.update_stack if there else cloudformation.create_stack
        change(StackName=name, TemplateBody=json.dumps(template))
        rested = until(lambda: _at_rest(read_stack(cloudformation, name)), what=name)
        assert rested
        self._stacks[stack] = rested
        return rested.settled

    def send(self) -> None:
        """Send as every deployed sender would: the producer a new job's message, the reconciler a lost one's."""
        stacks = self.look().stacks
        senders: list[BrokerEnv] = []
        if "producer" in stacks:
            senders.append(ProducerEnv.from_env(json.loads(stacks["producer"].outputs["ProducerEnvironment"])))
        if "consumer" in stacks:
            senders.append(ReconcilerEnv.from_env(json.loads(stacks["consumer"].outputs["ReconcilerEnvironment"])))
        for env in senders:
            assert isinstance(env, ProducerEnv | ReconcilerEnv)
            lane = choose_lane(env.fast_queue, main_lane=env.main_lane, lanes=env.queue_urls).lane
            self.client("sqs").send_message(QueueUrl=env.queue_urls[lane], MessageBody="job")
            self.sent += 1

    def work(self) -> None:
        """Take everything from the lanes that the deployed consumer's definitions name."""
        stack = self.look().stacks.get("consumer")
        sqs = self.client("sqs")
        for _logical_id, definition in stack.of("AWS::ECS::TaskDefinition") if stack else ():
            told = self._told(definition.physical_id)
            if lane := told.get("HEADWAY_LANE"):
                url = json.loads(told["HEADWAY_QUEUE_URLS"])[lane]
                while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=0).get(
                    "Messages"
                ):
                    for message in messages:
                        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
                        self.worked += 1

    @cache  # noqa: B019  # a task definition never changes, and a shop lives as long as its test
    def _told(self, arn: str) -> Mapping[str, str]:
        return read_definition(self.client("ecs"), arn).variables
