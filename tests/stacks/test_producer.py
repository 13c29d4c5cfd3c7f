"""The producer stack: a role that can send and upload, and nothing more; and the web service as the settings say."""

import json
from typing import Any

import pytest

from stacks.loading import load_stage
from tests.synth import Synthesized, as_list, stage, statements, synthesize, text, varied

_SEND = ["sqs:GetQueueAttributes", "sqs:SendMessage"]


def granted(policy: str) -> dict[str, list[str]]:
    """Return what one of the stack's policies allows, by resource."""
    return {
        text(resource): sorted(as_list(s["Action"]))
        for logical_id, s in statements(stage("prod").templates["producer"])
        if logical_id.startswith(policy)
        for resource in as_list(s["Resource"])
    }


def test_role_sends_uploads_and_reads_one_secret() -> None:
    """Exactly: send on both lanes, put drawings, read the database secret; it cannot receive or delete."""
    allowed = granted("RoleDefaultPolicy")
    assert sorted(allowed.values()) == sorted([_SEND, _SEND, ["s3:PutObject"], ["secretsmanager:GetSecretValue"]])
    (uploads,) = [resource for resource, actions in allowed.items() if actions == ["s3:PutObject"]]
    assert uploads.endswith("}/drawings/*")


def test_web_service_sends_and_opens_drawings() -> None:
    """Exactly: send on both lanes, put and get drawings; its secrets come from ECS, and blocks are not its to see."""
    allowed = granted("WebTaskTaskRole")
    assert sorted(allowed.values()) == sorted([_SEND, _SEND, ["s3:GetObject", "s3:PutObject"]])
    (drawings,) = [resource for resource, actions in allowed.items() if "s3:GetObject" in actions]
    assert drawings.endswith("}/drawings/*")


def test_every_role_is_for_tasks_alone() -> None:
    """Only ECS tasks assume them."""
    for role in stage("prod").of("producer", "AWS::IAM::Role").values():
        (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
        assert statement["Principal"] == {"Service": "ecs-tasks.amazonaws.com"}


def test_outputs_hold_no_secret() -> None:
    """The environment, an address and three ARNs are published: names of things, never their contents."""
    outputs = stage("prod").templates["producer"]["Outputs"]
    ours = {name: text(output["Value"]) for name, output in outputs.items() if not name.startswith("Publish")}
    assert set(ours) == {"ProducerEnvironment", "ProducerRoleArn", "DatabaseSecretArn", "WebUrl", "WebTokenSecretArn"}
    assert not {"DATABASE_PASSWORD", "MODEL_API_KEY", "WEB_TOKEN"} & set(json.loads(ours["ProducerEnvironment"]))
    assert ours["WebUrl"].startswith("http://${")


def test_without_a_token_of_its_own_the_stage_gets_a_random_one() -> None:
    """43 letters and digits are 256 bits; the template holds none of them."""
    (secret,) = stage("prod").of("producer", "AWS::SecretsManager::Secret").values()
    assert secret["GenerateSecretString"] == {
        "ExcludePunctuation": True,
        "GenerateStringKey": "token",
        "PasswordLength": 43,
        "SecretStringTemplate": "{}",
    }
    assert stage("local").of("producer", "AWS::SecretsManager::Secret") == {}


@pytest.fixture(scope="module")
def open_stage() -> Synthesized:
    """The dev stage with its web service on the internet."""
    changes: dict[str, Any] = {
        "web__internet_facing": True,
        "web__certificate_arn": "arn:aws:acm:eu-west-1:111122223333:certificate/x",
        "web__allowed_cidrs": ["0.0.0.0/0"],
    }
    return synthesize(varied(load_stage("dev"), **changes))


def test_a_certificate_makes_it_https(open_stage: Synthesized) -> None:
    """443 forwards, 80 redirects there, cookies are secure, and the address says so."""
    actions = {
        listener["Port"]: [action["Type"] for action in listener["DefaultActions"]]
        for listener in open_stage.of("producer", "AWS::ElasticLoadBalancingV2::Listener").values()
    }
    assert actions == {443: ["forward"], 80: ["redirect"]}
    (definition,) = open_stage.of("producer", "AWS::ECS::TaskDefinition").values()
    told = {e["Name"]: e["Value"] for e in definition["ContainerDefinitions"][0]["Environment"]}
    assert told["HEADWAY_HTTPS"] == "on"
    assert text(open_stage.templates["producer"]["Outputs"]["WebUrl"]["Value"]).startswith("https://${")


def test_only_an_open_service_is_on_the_internet(open_stage: Synthesized) -> None:
    """Its load balancer is in the public subnets; a stage that says nothing has an internal one."""
    for built, scheme in ((open_stage, "internet-facing"), (stage("dev"), "internal")):
        (balancer,) = built.of("producer", "AWS::ElasticLoadBalancingV2::LoadBalancer").values()
        assert balancer["Scheme"] == scheme
