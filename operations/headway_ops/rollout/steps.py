"""May the switch be moved? One step at a time; away from a lane only when it is drained, onto it when it is served."""

from collections.abc import Iterator

from headway_ops.deployed import DeployedStage
from headway_ops.promotion import Promotion

#: The switch's positions, in order.
POSITIONS = ("off", "ready", "on")
_MAIN = frozenset({"heavy"})


def refusal(now: str, to: str) -> str | None:
    """Return why the switch does not go from one position to another in one step, None where it does.

    >>> refusal("off", "on")
    "fast_lane = 'off': goes to 'on' one step at a time; set 'ready', deploy it, then go on"
    """
    if abs(POSITIONS.index(now) - POSITIONS.index(to)) <= 1:
        return None
    return f"fast_lane = {now!r}: goes to {to!r} one step at a time; set 'ready', deploy it, then go on"


def needs_a_look(now: str, to: str) -> bool:
    """Return whether the deployed stage decides: it must have drained the lane, or have to serve it."""
    return (now, to) in (("ready", "off"), ("ready", "on"))


def obstacles(stage: DeployedStage, state: Promotion, to: str) -> Iterator[str]:
    """Yield what of the deployed stage stands against the step."""
    if to == "off":
        yield from dict.fromkeys(says for name in ("queues", "consumer") for says in state.before(name, _MAIN))
    elif to == "on" and "fast" not in stage.workers:
        yield "no service consumes lane fast yet: deploy fast_lane = 'ready' first"
    elif to == "on" and not stage.workers["fast"].running:
        yield "no task of lane fast runs: see headway doctor"
