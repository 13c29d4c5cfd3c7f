"""Does a task have the grant for every lane that its environment names? A new lane needs a new one: IAM goes by ARN.

Without it a worker ends with its first poll and a producer fails with its first job, long after the deployment.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from constructs import IConstruct

from headway.contract import WorkerEnv
from headway.contract.rights import BURY, CONSUME, LOOK, SEND
from headway_cdk.flat import flat

#: How the environment contracts call what this reads; a worker's has every one.
_NAMES = WorkerEnv.variables()


@jsii.implements(cdk.IAspect)
class LaneGrants:
    """Refuses a task definition whose task role lacks what its containers' lanes need, one line a lane.

    `headway_cdk`'s own services carry it. For task definitions of your own: ``Aspects.of(app).add(LaneGrants())``.
    """

    def visit(self, node: IConstruct) -> None:
        """Add an error to a task definition for each grant that is missing."""
        if isinstance(node, ecs.TaskDefinition):
            granted = set(_granted(node.task_role))
            for need in _needs_of(node):
                missing = [action for action in need.actions if (action, need.queue) not in granted]
                if missing:
                    cdk.Annotations.of(node).add_error(
                        f"{need.variable} names lane {need.lane!r}, and the task role may not {', '.join(missing)}; "
                        f"call its {need.remedy}(task_role)"
                    )


@dataclass(frozen=True, kw_only=True)
class Need:
    """What one variable says that a task does with a lane's queue, and the call that grants it."""

    variable: str
    lane: str
    queue: str
    actions: tuple[str, ...]
    remedy: str


def needs(variables: Mapping[str, str]) -> Iterator[Need]:
    """Yield what a container needs, from its plain variables: a worker's from its lane, a sender's from them all."""
    queues = _by_lane(variables, "queue_urls")
    dead_letters = _by_lane(variables, "dead_letter_urls")

    def need(field: str, lane: str, queue: str, actions: tuple[str, ...], remedy: str) -> Need:
        return Need(variable=_NAMES[field], lane=lane, queue=queue, actions=actions, remedy=remedy)

    consumed = variables.get(_NAMES["lane"])
    if consumed:
        yield need("lane", consumed, queues.get(consumed, ""), CONSUME, "grant_consume")
        yield need("lane", consumed, dead_letters.get(consumed, ""), BURY, "grant_bury")
        main = variables.get(_NAMES["main_lane"], consumed)
        if main != consumed:
            yield need("main_lane", main, queues.get(main, ""), SEND, "grant_send")
        return
    for lane, queue in queues.items():
        yield need("queue_urls", lane, queue, SEND, "grant_send")
    for lane, queue in dead_letters.items():
        yield need("dead_letter_urls", lane, queue, LOOK, "grant_look")
    fast = variables.get(_NAMES["fast_queue"], "").strip()
    if fast and fast not in queues:
        yield need("fast_queue", fast, "", SEND, "grant_send")


def _by_lane(variables: Mapping[str, str], field: str) -> dict[str, str]:
    urls: Mapping[str, str] = json.loads(variables.get(_NAMES[field], "{}"))
    return {lane: _queue(url) for lane, url in urls.items()}


def _needs_of(definition: ecs.TaskDefinition) -> Iterator[Need]:
    resource = definition.node.default_child
    if isinstance(resource, ecs.CfnTaskDefinition):
        for container in cdk.Stack.of(definition).resolve(resource.container_definitions) or ():
            plain = container.get("environment") or ()
            yield from needs({pair["name"]: flat(pair["value"]) for pair in plain})


def _granted(role: iam.IRole) -> Iterator[tuple[str, str]]:
    """Yield the actions and queues of every policy that hangs on the role."""
    for policy in role.node.find_all():
        if isinstance(policy, iam.CfnPolicy):
            document = cdk.Stack.of(policy).resolve(policy.policy_document)
            for statement in document["Statement"]:
                for action in _many(statement["Action"]):
                    for resource in _many(statement["Resource"]):
                        yield action, _queue(flat(resource))


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _queue(name: str) -> str:
    """Return which queue a URL or an ARN means: a reference's logical id, or the last part of a name in full."""
    reference = re.fullmatch(r"<(\w+)(?:\.\w+)?>", name)
    return reference[1] if reference else re.split(r"[/:]", name)[-1]
