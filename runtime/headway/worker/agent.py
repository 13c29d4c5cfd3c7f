"""Asks the ECS agent to protect this task (Amazon ECS developer guide, "Task scale-in protection endpoint").

A refusal comes back with status 200 as ``{"failure": {...}}``, an exception as ``{"error": {...}}``; only
``{"protection": {...}}`` that says enabled means protected (aws/amazon-ecs-agent, tmds/handlers/taskprotection/v1).
"""

import http.client
import json
import urllib.error
import urllib.request
from dataclasses import dataclass

#: The agent itself gives ECS 4 s.
_TIMEOUT_S = 6.0


@dataclass(frozen=True, kw_only=True)
class AgentAnswer:
    """Whether the task's protection is now as it was asked for, and what the agent said if not."""

    done: bool
    reason: str = ""


def read_answer(status: int, body: bytes, *, enabled: bool) -> AgentAnswer:
    """Read the agent's answer to a request for ``enabled``."""
    try:
        document = json.loads(body)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        return AgentAnswer(done=False, reason=f"HTTP {status}, and no answer that can be read")
    protection = document.get("protection")
    if status == http.client.OK and isinstance(protection, dict) and protection.get("ProtectionEnabled") is enabled:
        return AgentAnswer(done=True)
    failure, error = document.get("failure"), document.get("error")
    if isinstance(failure, dict):
        return AgentAnswer(done=False, reason=f"{failure.get('Reason')}: {failure.get('Detail')}")
    if isinstance(error, dict):
        return AgentAnswer(done=False, reason=f"{error.get('Code')}: {error.get('Message')}")
    return AgentAnswer(done=False, reason=f"HTTP {status}, and neither protection nor failure")


def set_protection(agent_uri: str, *, enabled: bool, minutes: int) -> AgentAnswer:
    """Turn the task's protection on for so many minutes, or off. What cannot be known counts as not done."""
    wanted: dict[str, bool | int] = {"ProtectionEnabled": enabled}
    if enabled:
        wanted["ExpiresInMinutes"] = minutes
    request = urllib.request.Request(  # noqa: S310  # the agent's address, which ECS itself gave
        f"{agent_uri}/task-protection/v1/state",
        data=json.dumps(wanted).encode(),
        headers={"Content-Type": "application/json"},
        method="PUT",
    )
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as response:  # noqa: S310  # as above
            return read_answer(response.status, response.read(), enabled=enabled)
    except urllib.error.HTTPError as error:
        with error:
            return read_answer(error.code, error.read(), enabled=enabled)
    except (OSError, http.client.HTTPException) as error:
        return AgentAnswer(done=False, reason=f"the agent cannot be reached: {error}")
