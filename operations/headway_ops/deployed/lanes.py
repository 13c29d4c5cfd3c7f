"""One lane as SQS has it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError


@dataclass(frozen=True)
class Queue:
    """A queue's URL and its attributes, in SQS's own words; no attributes where it does not exist."""

    url: str
    attributes: Mapping[str, str]

    @property
    def arn(self) -> str:
        """Its ARN, empty where it does not exist."""
        return self.attributes.get("QueueArn", "")

    @property
    def held(self) -> int:
        """Its messages, waiting, in flight or delayed; approximate, as SQS counts."""
        names = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        return sum(int(self.attributes.get(name, 0)) for name in (*names, "ApproximateNumberOfMessagesDelayed"))

    @property
    def redrive(self) -> Mapping[str, Any]:
        """Its redrive policy, empty without one."""
        policy: Mapping[str, Any] = json.loads(self.attributes.get("RedrivePolicy") or "{}")
        return policy

    @property
    def policy(self) -> Mapping[str, Any]:
        """Its resource policy, empty without one."""
        policy: Mapping[str, Any] = json.loads(self.attributes.get("Policy") or "{}")
        return policy


@dataclass(frozen=True)
class DeployedLane:
    """A lane's queue and the queue for its dead letters."""

    queue: Queue
    dead_letters: Queue


def read_queue(sqs: Any, url: str) -> Queue:
    """Return a queue by its URL."""
    try:
        return Queue(url, sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"])
    except ClientError as error:
        if error.response["Error"]["Code"].endswith(("QueueDoesNotExist", "NonExistentQueue")):
            return Queue(url, {})
        raise
