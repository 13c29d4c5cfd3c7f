"""What may a role do? IAM's own answer, and what a queue's policy takes away again."""

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def granted(iam: Any, role_arn: str, actions: Sequence[str], resource_arn: str) -> set[str]:
    """Return the actions that a role's own policies allow on a resource, as IAM simulates them.

    Resource policies are not part of it (IAM API reference, SimulatePrincipalPolicy: they are for users alone).
    """
    answer = iam.simulate_principal_policy(
        PolicySourceArn=role_arn, ActionNames=list(actions), ResourceArns=[resource_arn]
    )
    return {result["EvalActionName"] for result in answer["EvaluationResults"] if result["EvalDecision"] == "allowed"}


def denied(policy: Mapping[str, Any], role_arn: str, actions: Iterable[str]) -> set[str]:
    """Return the actions that a resource's policy denies a role, whatever it was granted.

    A statement with a condition is left out: the one that every lane has refuses plain HTTP, which nobody uses.
    """
    statements = [
        statement
        for statement in _many(policy.get("Statement"))
        if statement["Effect"] == "Deny" and not statement.get("Condition") and _names(statement["Principal"], role_arn)
    ]
    return {
        action
        for action in actions
        for statement in statements
        if any(fnmatch.fnmatchcase(action.lower(), each.lower()) for each in _many(statement.get("Action")))
    }


def _names(principal: Any, role_arn: str) -> bool:
    names = _many(principal.get("AWS") if isinstance(principal, Mapping) else principal)
    account = role_arn.split(":")[4]
    return any(name in ("*", role_arn, account, f"arn:aws:iam::{account}:root") for name in names)


def _many(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
