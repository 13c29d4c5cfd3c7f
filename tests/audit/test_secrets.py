"""No template holds a secret, and the scan finds one of every kind that it is for."""

import json
import re
import secrets as randomness
from typing import Any

import pytest

from headway.contract import DatabaseSecret, ModelSecret, OwnerSecret, WebSecret
from stacks.loading import load_stages
from tests.audit.secrets import secrets
from tests.pipeline import synthesized
from tests.synth import stage


@pytest.mark.parametrize("name", load_stages())
def test_no_template_holds_a_secret(name: str) -> None:
    """Secrets are named by ARN and key; their values are nowhere."""
    found = {stack: secrets(template) for stack, template in stage(name).templates.items()}
    assert found == {stack: [] for stack in found}


def test_no_pipeline_holds_a_secret() -> None:
    """Its connection is an ARN, and its builds take on roles."""
    assert secrets(synthesized().templates["pipeline"]) == []


def container(name: str, value: str) -> dict[str, Any]:
    """Return a template whose only container has one plain variable."""
    properties = {"ContainerDefinitions": [{"Environment": [{"Name": name, "Value": value}]}]}
    return {"Resources": {"Task": {"Properties": properties}}}


def names_of_secrets() -> list[str]:
    """Return every variable that a contract says is a secret, but for the ones that say who and where."""
    contracts = (DatabaseSecret, OwnerSecret, ModelSecret, WebSecret)
    open_parts = re.compile("host|port|dbname|username")
    return [
        name for contract in contracts for key, name in contract.variables().items() if not open_parts.fullmatch(key)
    ]


@pytest.mark.parametrize("name", names_of_secrets())
def test_a_secret_among_plain_variables_is_found_by_its_name(name: str) -> None:
    """Whatever its value looks like."""
    assert secrets(container(name, "hello")) == [f"Task: plain variable {name}"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("AKIA" + "ABCDEFGHIJKLMNOP", "an AWS access key id"),
        ("-----BEGIN RSA " + "PRIVATE KEY-----", "a private key"),
        ("sk-" + "proj-abcdefghijklmnop", "a model vendor's key"),
        ("ghp_" + "a" * 36, "a GitHub token"),
        ("eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0.c2ln", "a JSON web token"),
        ("postgresql://headway:hunter2@db/headway", "a URL with a password"),
    ],
)
def test_a_key_is_found_by_its_shape_anywhere(value: str, why: str) -> None:
    """In a description as in a variable."""
    template = {"Description": f"see {value}", "Resources": {}}
    assert secrets(template) == [f"/Description: {why}"]


def test_a_random_text_is_found_by_its_entropy() -> None:
    """A token of 32 random bytes is found, and a digest is not."""
    assert secrets(container("HEADWAY_NAME", randomness.token_urlsafe(48))) == [
        "/Resources/Task/Properties/ContainerDefinitions/0/Environment/0/Value: a random text"
    ]
    assert secrets(container("HEADWAY_IMAGE", "worker@sha256:" + "0123456789abcdef" * 4)) == []


def test_a_finding_does_not_repeat_the_secret() -> None:
    """What is found can be printed in a log."""
    value = randomness.token_urlsafe(48)
    assert value not in json.dumps(secrets(container("HEADWAY_NAME", value)))
