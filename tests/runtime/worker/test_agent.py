"""Every answer of the ECS agent, in the shapes of aws/amazon-ecs-agent, tmds/handlers/taskprotection/v1."""

import json

import pytest

from headway.worker.agent import AgentAnswer, read_answer, set_protection
from tests.runtime.support.agent import GRANTED, REFUSED, RELEASED, AgentServer, exception
from tests.runtime.support.servers import serving


@pytest.mark.parametrize(
    ("status", "document", "reason"),
    [
        (200, {"failure": REFUSED}, "DEPLOYMENT_BLOCKED: None"),
        (429, exception("ThrottlingException"), "ThrottlingException: m"),
        (400, exception("InvalidParameterException"), "InvalidParameterException: m"),
        (403, exception("AccessDeniedException"), "AccessDeniedException: m"),
        (500, exception("ServerException"), "ServerException: m"),
        (504, exception("RequestCanceled"), "RequestCanceled: m"),
        (200, {"protection": RELEASED}, "HTTP 200, and neither protection nor failure"),
        (200, ["protection"], "HTTP 200, and no answer that can be read"),
    ],
)
def test_anything_but_an_enabled_protection_is_none(status: int, document: object, reason: str) -> None:
    """A refusal comes with status 200: only what says "enabled" protects."""
    assert read_answer(status, json.dumps(document).encode(), enabled=True) == AgentAnswer(done=False, reason=reason)


def test_garbage_is_no_protection() -> None:
    """Neither is a body that is no JSON."""
    assert not read_answer(200, b"<html>", enabled=True).done


def test_an_enabled_protection_protects() -> None:
    """And a disabled one was released."""
    assert read_answer(200, json.dumps({"protection": GRANTED}).encode(), enabled=True).done
    assert read_answer(200, json.dumps({"protection": RELEASED}).encode(), enabled=False).done


def test_the_agent_is_asked_in_its_own_words() -> None:
    """PUT /task-protection/v1/state; the minutes go with a request for protection only."""
    agent = AgentServer()
    with serving(agent):
        assert set_protection(agent.url, enabled=True, minutes=30).done
        assert set_protection(agent.url, enabled=False, minutes=30).done
    path = "/task-protection/v1/state"
    assert agent.asked == [
        (path, {"ProtectionEnabled": True, "ExpiresInMinutes": 30}),
        (path, {"ProtectionEnabled": False}),
    ]


def test_an_agent_that_is_gone_is_no_protection() -> None:
    """Unknown counts as unprotected."""
    agent = AgentServer()
    agent.server_close()
    assert not set_protection(agent.url, enabled=True, minutes=30).done
