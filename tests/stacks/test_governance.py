"""A stage in someone else's account: their boundary, qualifier and tags, their bucket and key; and what is refused."""

import json
from typing import Any

import pytest

from stacks.loading import load_stage
from stacks.rules import problems
from tests.audit.nag import nag
from tests.audit.permissions import permissions
from tests.synth import Synthesized, synthesize, varied

BOUNDARY = "arn:aws:iam::111122223333:policy/boundary"
KEY = "arn:aws:kms:eu-west-1:111122223333:key/0123abcd-0123-4567-89ab-0123456789ab"
DEV = varied(
    load_stage("dev"),
    governance__permissions_boundary_arn=BOUNDARY,
    governance__bootstrap_qualifier="team",
    governance__tags={"cost-center": "4711"},
    job_store__drawings_bucket="the-teams-drawings",
    encryption__key_arn=KEY,
)


@pytest.fixture(scope="module")
def governed() -> Synthesized:
    """The dev stage with all of it set."""
    return synthesize(DEV)


def test_the_boundary_is_on_every_role(governed: Synthesized) -> None:
    """Also on those that the CDK makes."""
    roles = [role for stack in governed.templates for role in governed.of(stack, "AWS::IAM::Role").values()]
    assert len(roles) > 10
    assert {role["PermissionsBoundary"] for role in roles} == {BOUNDARY}


def test_the_qualifier_is_in_all_that_was_bootstrapped(governed: Synthesized) -> None:
    """Assets, roles and the version's parameter are those of `cdk bootstrap --qualifier team`."""
    said = json.dumps(governed.manifest) + json.dumps(governed.templates)
    assert "cdk-team-deploy-role" in said
    assert "/cdk-bootstrap/team/version" in said
    assert "hnb659fds" not in said


def test_the_tags_are_beside_our_own(governed: Synthesized) -> None:
    """On queues, cluster and roles alike."""
    for stack, kind in (
        ("queues", "AWS::SQS::Queue"),
        ("consumer", "AWS::ECS::Cluster"),
        ("producer", "AWS::IAM::Role"),
    ):
        for resource in governed.of(stack, kind).values():
            tags = {tag["Key"]: tag["Value"] for tag in resource["Tags"]}
            assert tags == {"cost-center": "4711", "headway:stage": "dev"}


def test_the_bucket_is_used_and_none_is_created_for_drawings(governed: Synthesized) -> None:
    """The one bucket that is created holds access logs; tasks are told of the imported one, and may use it."""
    assert [name.rstrip("0123456789ABCDEF") for name in governed.of("jobstore", "AWS::S3::Bucket")] == ["AccessLogs"]
    told = {
        variable["Value"]
        for stack in ("consumer", "producer")
        for definition in governed.of(stack, "AWS::ECS::TaskDefinition").values()
        for container in definition["ContainerDefinitions"]
        for variable in container.get("Environment", ())
        if variable["Name"] == "HEADWAY_DRAWINGS_BUCKET"
    }
    assert told == {"the-teams-drawings"}
    objects = {each.arn for each in permissions(governed) if each.action.startswith("s3:")}
    assert objects == {f"arn:Partition:s3:::the-teams-drawings/{prefix}/*" for prefix in ("drawings", "blocks")}


def test_the_key_encrypts_what_is_created(governed: Synthesized) -> None:
    """Queues and dead letters, the database, and every secret."""
    assert {queue["KmsMasterKeyId"] for queue in governed.of("queues", "AWS::SQS::Queue").values()} == {KEY}
    (cluster,) = governed.of("jobstore", "AWS::RDS::DBCluster").values()
    assert cluster["KmsKeyId"] == KEY
    secrets = [
        secret
        for stack in ("jobstore", "producer")
        for secret in governed.of(stack, "AWS::SecretsManager::Secret").values()
    ]
    assert [secret["KmsKeyId"] for secret in secrets] == [KEY] * 4


def test_a_bucket_of_ours_is_encrypted_with_the_key() -> None:
    """With a key and without a bucket of one's own."""
    built = synthesize(varied(DEV, job_store__drawings_bucket=""))
    (drawings,) = (b for name, b in built.of("jobstore", "AWS::S3::Bucket").items() if name.startswith("Drawings"))
    (rule,) = drawings["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": KEY}


#: What each role needs of the key: senders and writers a data key, receivers and readers to decrypt ("Configuring AWS
#: KMS permissions for Amazon SQS"; S3 and Secrets Manager likewise).
BOTH = {"kms:Decrypt", "kms:GenerateDataKey"}
KEY_TABLE = {
    "HeavyTaskTaskRole": BOTH,
    "FastTaskTaskRole": BOTH,
    "ReconcilerTaskTaskRole": BOTH,
    "Role": BOTH,
    "WebTaskTaskRole": BOTH,
    "HeavyTaskExecutionRole": {"kms:Decrypt"},
    "FastTaskExecutionRole": {"kms:Decrypt"},
    "ReconcilerTaskExecutionRole": {"kms:Decrypt"},
    "MigrationTaskExecutionRole": {"kms:Decrypt"},
    "WebTaskExecutionRole": {"kms:Decrypt"},
}


def test_each_role_may_use_the_key_for_what_it_does(governed: Synthesized) -> None:
    """And no other role may, and no other key."""
    found: dict[str, set[str]] = {}
    for each in permissions(governed):
        if each.action.startswith("kms:"):
            assert each.arn == KEY
            found.setdefault(each.who, set()).add(each.action)
    assert found == KEY_TABLE


def test_it_has_no_open_finding() -> None:
    """cdk-nag says nothing to these settings either."""
    assert nag(DEV).uncovered == []


REFUSED: list[tuple[dict[str, Any], str, str, str]] = [
    (
        {"governance__permissions_boundary_arn": "boundary"},
        "governance.permissions_boundary_arn",
        "must be the ARN of an IAM policy",
        "copy it, or leave it empty",
    ),
    (
        {"governance__bootstrap_qualifier": "the-platform-team"},
        "governance.bootstrap_qualifier",
        "must be what cdk bootstrap --qualifier was given: 1..10 letters, digits, - or _",
        "copy it, or leave it empty",
    ),
    (
        {"governance__tags": {"aws:owner": "me"}},
        "governance.tags",
        "a name must have 1..128 characters, and not begin with aws: or headway:",
        "rename it",
    ),
    (
        {"governance__tags": {"note": "x" * 257}},
        "governance.tags.note",
        "must have 256 characters at most",
        "shorten it",
    ),
    (
        {"governance__tags": {f"tag-{number}": "" for number in range(50)}},
        "governance.tags",
        "must be 49 at most",
        "drop some",
    ),
    (
        {"job_store__drawings_bucket": "Drawings"},
        "job_store.drawings_bucket",
        "must be the name of a bucket",
        "copy it, or leave it empty",
    ),
    (
        {"encryption__key_arn": "alias/headway"},
        "encryption.key_arn",
        "must be the ARN of a KMS key, and not an alias",
        "copy it, or leave it empty",
    ),
    (
        {"encryption__key_arn": KEY.replace("eu-west-1", "us-east-1")},
        "encryption.key_arn",
        "must be in the stage's region, eu-west-1",
        "use a key or a replica there, not the one in us-east-1",
    ),
]


@pytest.mark.parametrize(("changes", "field", "bound", "fix"), REFUSED)
def test_refused(changes: dict[str, Any], field: str, bound: str, fix: str) -> None:
    """What AWS would not take is one line before anything acts: the field, the bound it breaks, and what to do."""
    (only,) = problems(varied(load_stage("dev"), **changes))
    assert (only.field, only.bound, only.fix) == (field, bound, fix)


def test_shipped_stages_ask_for_none_of_it() -> None:
    """And so nothing about them is refused."""
    assert list(problems(load_stage("dev"))) == []
