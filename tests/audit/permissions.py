"""Who may do what to which ARN, read out of a stage's templates."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.synth import Synthesized, as_list, text

#: A name that the CDK gives: the construct's path run together, and eight digits of its hash.
_HASHED = r"[0-9A-F]{8}"
#: A reference within a stack, such as ${HeavyQueue1A2B3C4D.Arn}.
_INNER = re.compile(rf"\$\{{(?P<name>\w+?){_HASHED}(?:\.\w+)?\}}")
#: A reference to another stack, such as ${headway-prod-queues.PublishOutputFnGetAttHeavyQueue1A2B3C4DArn5E6F7A8B}.
_OUTER = re.compile(rf"\$\{{[\w-]+\.PublishOutput(?:FnGetAtt|Ref)(?P<name>\w+?){_HASHED}\w*\}}")
_PSEUDO = re.compile(r"\$\{AWS::(?P<name>\w+)\}")


class Permission(NamedTuple):
    """One role or service may do one action to one ARN; ``bounded`` where a condition narrows it."""

    who: str
    action: str
    arn: str
    bounded: bool


def permissions(built: Synthesized) -> Iterator[Permission]:
    """Yield every permission that a stage's identity policies allow, with the CDK's generated names made readable.

    >>> _readable("${HeavyQueue1A2B3C4D.Arn}")
    'HeavyQueue'
    """
    for template in built.templates.values():
        for resource in template["Resources"].values():
            if resource["Type"] == "AWS::IAM::Policy":
                properties = resource["Properties"]
                for role in properties["Roles"]:
                    yield from _allowed(_readable(text(role)), properties["PolicyDocument"]["Statement"])


def attached(built: Synthesized) -> list[str]:
    """Return every policy that comes from somewhere else, so that this reading would not see it."""
    return [
        text(policy)
        for stack in built.templates
        for role in built.of(stack, "AWS::IAM::Role").values()
        for policy in (*role.get("ManagedPolicyArns", ()), *role.get("Policies", ()))
    ]


def _allowed(who: str, statements: list[dict[str, Any]]) -> Iterator[Permission]:
    for statement in statements:
        if statement["Effect"] == "Allow":
            for action in as_list(statement["Action"]):
                for resource in as_list(statement["Resource"]):
                    yield Permission(who, action, _readable(text(resource)), "Condition" in statement)


def _readable(value: str) -> str:
    for reference in (_OUTER, _INNER, _PSEUDO):
        value = reference.sub(lambda found: found["name"], value)
    return value
