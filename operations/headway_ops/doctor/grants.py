"""Who may do what on the lanes: exactly their job? What a worker may not read looks like an empty lane to it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headway.contract.rights import BURY, CONSUME, SEND, TAKE
from headway_ops.deployed import DeployedLane, DeployedService, Queue
from headway_ops.deployed.roles import denied, granted
from headway_ops.doctor.finding import Finding


@dataclass(frozen=True)
class Need:
    """What a role needs on a queue, and what it must not have there."""

    where: str
    role_arn: str
    queue_name: str
    queue: Queue
    actions: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()


def worker_needs(lanes: Mapping[str, DeployedLane], workers: Mapping[str, DeployedService]) -> Iterator[Need]:
    """Yield what each lane's workers need: to consume their own lane, send to the main one, and bury."""
    for lane, service in workers.items():
        role, main = service.serving.role_arn, service.serving.variables.get("HEADWAY_MAIN_LANE", "heavy")
        for name, found in lanes.items():
            actions = (CONSUME if name == lane else ()) + (SEND if name == main else ())
            yield Need(lane, role, f"lane {name}", found.queue, actions, () if name == lane else TAKE)
        if lane in lanes:
            yield Need(lane, role, f"dead letters of {lane}", lanes[lane].dead_letters, BURY)


def sender_needs(lanes: Mapping[str, DeployedLane], roles: Mapping[str, str]) -> Iterator[Need]:
    """Yield what senders need, by the part of the stage that each role is of: to send, and nothing that takes out."""
    for where, role in roles.items():
        for name, found in lanes.items():
            yield Need(where, role, f"lane {name}", found.queue, SEND, TAKE)


def check_need(iam: Any, need: Need) -> Iterator[Finding]:
    """Ask IAM, look at the queue's own policy, and yield what is missing, taken back, or too much."""
    if not need.queue.arn:
        return
    asked = tuple(dict.fromkeys(need.actions + need.forbidden))
    allowed = granted(iam, need.role_arn, asked, need.queue.arn) if asked else set()
    if missing := sorted(set(need.actions) - allowed):
        yield Finding("missing-grant", need.where, f"no grant of {', '.join(missing)} on {need.queue_name}")
    if taken := sorted(denied(need.queue.policy, need.role_arn, set(need.actions) & allowed)):
        says = f"the queue's policy denies {', '.join(taken)} on {need.queue_name}: it looks empty and is not"
        yield Finding("access-denied", need.where, says)
    if excess := sorted(set(need.forbidden) & allowed):
        yield Finding("excess-grant", need.where, f"may {', '.join(excess)} on {need.queue_name}")
