"""The producer stack: a role that can send and upload, and nothing more."""

import json

from tests.synth import as_list, stage, statements, text


def test_role_sends_uploads_and_reads_one_secret() -> None:
    """Exactly: send on both lanes, put drawings, read the database secret; it cannot receive or delete."""
    granted = {
        text(resource): sorted(as_list(s["Action"]))
        for _, s in statements(stage("prod").templates["producer"])
        for resource in as_list(s["Resource"])
    }
    send = ["sqs:GetQueueAttributes", "sqs:SendMessage"]
    assert sorted(granted.values()) == sorted([send, send, ["s3:PutObject"], ["secretsmanager:GetSecretValue"]])
    (uploads,) = [resource for resource, actions in granted.items() if actions == ["s3:PutObject"]]
    assert uploads.endswith("}/drawings/*")


def test_role_is_for_tasks_alone() -> None:
    """Only ECS tasks assume it."""
    (role,) = stage("prod").of("producer", "AWS::IAM::Role").values()
    (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "ecs-tasks.amazonaws.com"}


def test_outputs_hold_no_secret() -> None:
    """The environment and two ARNs are published: names of things, never their contents."""
    outputs = stage("prod").templates["producer"]["Outputs"]
    ours = {name: text(output["Value"]) for name, output in outputs.items() if not name.startswith("Publish")}
    assert set(ours) == {"ProducerEnvironment", "ProducerRoleArn", "DatabaseSecretArn"}
    assert not {"DATABASE_PASSWORD", "MODEL_API_KEY"} & set(json.loads(ours["ProducerEnvironment"]))
