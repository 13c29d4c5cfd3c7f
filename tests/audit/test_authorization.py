"""What a role is granted is what it can do: signed requests with its credentials, to an account that authorizes."""

import dataclasses
import itertools
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from stacks.loading import load_stage
from tests.audit.expected import table
from tests.runtime.support.emulator import certificate, emulated_aws
from tests.synth import stage

REGION = "us-east-1"
#: The emulator takes this key for the account's root.
ROOT = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
#: The roles that work with lanes and drawings, by the stack each is in.
ROLES = {
    "consumer": ("HeavyTaskTaskRole", "FastTaskTaskRole", "ReconcilerTaskTaskRole", "PublisherRole"),
    "producer": ("Role", "WebTaskTaskRole"),
}
QUEUES = ("HeavyQueue", "HeavyDeadLetters", "FastQueue", "FastDeadLetters")
PREFIXES = ("drawings", "blocks", "elsewhere")
#: A receipt that no queue knows: who may not use one is told so first.
RECEIPT = "AQEBnone"

QUEUE_CALLS: Mapping[str, Callable[[Any, str], Any]] = {
    "sqs:SendMessage": lambda sqs, url: sqs.send_message(QueueUrl=url, MessageBody="{}"),
    "sqs:ReceiveMessage": lambda sqs, url: sqs.receive_message(QueueUrl=url, WaitTimeSeconds=0),
    "sqs:DeleteMessage": lambda sqs, url: sqs.delete_message(QueueUrl=url, ReceiptHandle=RECEIPT),
    "sqs:ChangeMessageVisibility": lambda sqs, url: sqs.change_message_visibility(
        QueueUrl=url, ReceiptHandle=RECEIPT, VisibilityTimeout=0
    ),
    "sqs:GetQueueAttributes": lambda sqs, url: sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"]),
    "sqs:PurgeQueue": lambda sqs, url: sqs.purge_queue(QueueUrl=url),
}
OBJECT_CALLS: Mapping[str, Callable[[Any, str, str], Any]] = {
    "s3:GetObject": lambda s3, bucket, key: s3.get_object(Bucket=bucket, Key=key),
    "s3:PutObject": lambda s3, bucket, key: s3.put_object(Bucket=bucket, Key=key, Body=b""),
    "s3:DeleteObject": lambda s3, bucket, key: s3.delete_object(Bucket=bucket, Key=key),
}


@dataclass(frozen=True)
class Account:
    """The local stage's queues, bucket and roles, deployed; physical ids by the constructs' names."""

    endpoint: str
    certificate: Path
    ids: Mapping[str, str]

    def client(self, service: Any, **credentials: Any) -> Any:
        """Return a client of the emulated account."""
        return boto3.client(
            service, region_name=REGION, endpoint_url=self.endpoint, verify=str(self.certificate), **credentials
        )

    def as_role(self, role: str) -> dict[str, str]:
        """Return the credentials that a task with the role is given."""
        account = load_stage("local").account
        arn = f"arn:aws:iam::{account}:role/{self.ids[role]}"
        answer = self.client("sts", **ROOT).assume_role(RoleArn=arn, RoleSessionName="task")["Credentials"]
        return {
            "aws_access_key_id": answer["AccessKeyId"],
            "aws_secret_access_key": answer["SecretAccessKey"],
            "aws_session_token": answer["SessionToken"],
        }


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """Stacks of the local stage in an account that authorizes: the stateful ones whole, of the others the roles."""
    if not shutil.which("openssl"):
        pytest.skip("openssl not found: the emulator makes its certificate with it")
    directory = tmp_path_factory.mktemp("account")
    with emulated_aws(directory, authorizing=True) as endpoint:
        made = Account(endpoint, certificate(directory), {})
        # What cdk bootstrap leaves behind, and each template asks for.
        made.client("ssm", **ROOT).put_parameter(Name="/cdk-bootstrap/hnb659fds/version", Value="30", Type="String")
        ids: dict[str, str] = {}
        for name, template in _templates():
            ids |= _deploy(made.client("cloudformation", **ROOT), f"headway-local-{name}", template)
        yield dataclasses.replace(made, ids=ids)


def _templates() -> Iterator[tuple[str, dict[str, Any]]]:
    built = stage("local").templates
    yield from ((name, built[name]) for name in ("queues", "jobstore"))
    for name, roles in ROLES.items():
        resources = {
            logical_id: resource
            for logical_id, resource in built[name]["Resources"].items()
            if resource["Type"] == "AWS::ECS::Cluster"
            or (resource["Type"].startswith("AWS::IAM::") and logical_id[:-8].removesuffix("DefaultPolicy") in roles)
        }
        yield name, {"Resources": resources}


def _deploy(cloudformation: Any, name: str, template: dict[str, Any]) -> dict[str, str]:
    """Create a stack; return its resources' physical ids by their logical ids without the hash."""
    cloudformation.create_stack(
        StackName=name, TemplateBody=json.dumps(template), Capabilities=["CAPABILITY_NAMED_IAM"]
    )
    cloudformation.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig={"Delay": 1})
    found = cloudformation.describe_stack_resources(StackName=name)["StackResources"]
    return {each["LogicalResourceId"][:-8]: each["PhysicalResourceId"] for each in found}


def allowed(call: Callable[[], Any]) -> bool:
    """Make a call; return False where IAM denies it. What is not there is not denied."""
    try:
        call()
    except ClientError as error:
        return error.response["Error"]["Code"] not in ("AccessDenied", "AccessDeniedException")
    return True


@pytest.mark.parametrize("role", list(itertools.chain.from_iterable(ROLES.values())))
def test_a_role_can_do_exactly_what_its_row_says(account: Account, role: str) -> None:
    """Every call on every queue, and on objects under each prefix and elsewhere: allowed by its row, denied without."""
    credentials = account.as_role(role)
    sqs, s3 = account.client("sqs", **credentials), account.client("s3", **credentials)
    can = {
        (queue, action)
        for queue in QUEUES
        for action, ask in QUEUE_CALLS.items()
        if allowed(lambda ask=ask, queue=queue: ask(sqs, account.ids[queue]))  # type: ignore[misc]  # bound, not inferred
    }
    can |= {
        (f"Drawings/{prefix}/*", action)
        for prefix in PREFIXES
        for action, touch in OBJECT_CALLS.items()
        if allowed(lambda touch=touch, prefix=prefix: touch(s3, account.ids["Drawings"], f"{prefix}/1.png"))  # type: ignore[misc]  # bound, not inferred
    }
    row = table(load_stage("local"))[role]
    may = {(arn, action) for arn, actions in row.items() for action in actions if arn.startswith((*QUEUES, "Drawings"))}
    assert can == may


def test_the_account_authorizes(account: Account) -> None:
    """Without a key of the account's nothing is allowed, so that what a role can do is its grant's doing."""
    stranger = account.client("sqs", aws_access_key_id="AKIAIOSFODNN7EXAMPLE", aws_secret_access_key="none")
    with pytest.raises(ClientError):
        stranger.receive_message(QueueUrl=account.ids["HeavyQueue"])
