"""After the queues: a message can be sent, received, extended and deleted, and the consumer may do so."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from headway_ops.deployed import DeployedLane, DeployedStage
from headway_ops.doctor import Finding
from headway_ops.doctor.grants import check_need, worker_needs
from headway_ops.verify.subject import Said

#: The longest that one receive looks for the canary, seconds; SQS's maximum is 20.
_LOOK_S = 5
_LOOKS = 3


def canaries(stage: DeployedStage) -> Iterator[Said]:
    """Send a canary through each lane that nobody reads yet, and say why where that is not so."""
    sqs, consumed = stage.client("sqs"), set(stage.workers)
    for name, lane in stage.lanes.items():
        if name in consumed:
            yield f"lane {name}: no canary, its workers would take it; the grants of their role are checked instead"
        elif lane.queue.held:
            yield f"lane {name}: no canary, {lane.queue.held} messages wait there"
        else:
            yield f"lane {name}: no consumer yet, so the canary goes by your own credentials"
            yield from _canary(sqs, name, lane)


def consumer_grants(stage: DeployedStage) -> Iterator[Said]:
    """Ask IAM whether each lane's workers may take from their lane and from no other, where there are any yet."""
    iam = stage.client("iam")
    for need in worker_needs(stage.lanes, stage.workers):
        yield from check_need(iam, need)


def _canary(sqs: Any, name: str, lane: DeployedLane) -> Iterator[Said]:
    url, body = lane.queue.url, json.dumps({"headway": "canary", "id": str(uuid4())})
    sqs.send_message(QueueUrl=url, MessageBody=body)
    for _ in range(_LOOKS):
        for message in sqs.receive_message(QueueUrl=url, WaitTimeSeconds=_LOOK_S).get("Messages", ()):
            handle = message["ReceiptHandle"]
            if message["Body"] == body:
                seconds = int(lane.queue.attributes["VisibilityTimeout"])
                sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=seconds)
                sqs.delete_message(QueueUrl=url, ReceiptHandle=handle)
                return
            sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=0)
    yield Finding("canary-lost", name, f"a message that was sent was not received in {_LOOKS * _LOOK_S} s")
