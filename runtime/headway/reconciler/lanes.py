"""The stage's lanes and dead letters, as the reconciler sees them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from uuid import UUID

import boto3
import botocore.config
import celery

from headway.contract import ReconcilerEnv
from headway.producer.broker import BLOCKSPLIT, RUN_STEP, sender_settings
from headway.producer.routing import choose_lane
from headway.reconciler.letters import Letter, read_letter
from headway.worker.settling import REASON_ATTRIBUTE

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_CONFIG = botocore.config.Config(connect_timeout=3, read_timeout=5, retries={"total_max_attempts": 2})
_COUNTS: Final = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)
#: SQS gives at most ten messages at a time (ReceiveMessage, MaxNumberOfMessages).
_AT_A_TIME = 10
#: A dead letter that was looked at is hidden for so many seconds, so that one run sees each once.
_HIDDEN_S = 30
#: Dead letters that one run looks at, in tens; a later run sees the others.
_MOST_LOOKS = 50


class Lanes:
    """Counts and sends messages, and reads dead letters without taking them.

    Raises:
        ContractError: the stage's main lane has no queue.
    """

    def __init__(self, env: ReconcilerEnv) -> None:
        self._env = env
        self._sqs: SQSClient = boto3.client("sqs", region_name=env.region, config=_CONFIG)
        self._app = celery.Celery("headway.reconciler", set_as_current=False)
        self._app.conf.update(sender_settings(env))
        self._route = choose_lane(env.fast_queue, main_lane=env.main_lane, lanes=env.queue_urls)

    def empty(self) -> bool:
        """Return whether no lane has a message, waiting or held.

        The counts are approximate, but for a queue that nobody sends to they become exact (SQS guide, "Approximate
        number of messages"), and a row is called lost only after a lease's time.
        """
        return not any(
            int(value)
            for url in self._env.queue_urls.values()
            for value in self._sqs.get_queue_attributes(QueueUrl=url, AttributeNames=_COUNTS)["Attributes"].values()
        )

    def send_job(self, job_id: UUID) -> None:
        """Send a job's message to the lane that the rollout switch names."""
        self._app.send_task(BLOCKSPLIT, args=[str(job_id)], queue=self._route.lane)

    def send_step(self, step_id: UUID) -> None:
        """Send a step's message."""
        self._app.send_task(RUN_STEP, args=[str(step_id)], queue=self._env.main_lane)

    def dead_letters(self) -> Iterator[tuple[Letter, str]]:
        """Yield the dead letters that can be read, each with its reason.

        They stay where they are, hidden from the next look for a while.
        """
        for url in self._env.dead_letter_urls.values():
            for _ in range(_MOST_LOOKS):
                answer = self._sqs.receive_message(
                    QueueUrl=url,
                    MaxNumberOfMessages=_AT_A_TIME,
                    VisibilityTimeout=_HIDDEN_S,
                    # Long polling asks every server of the queue, short polling a few (SQS guide).
                    WaitTimeSeconds=1,
                    MessageAttributeNames=[REASON_ATTRIBUTE],
                )
                messages = answer.get("Messages", ())
                for message in messages:
                    letter = read_letter(message["Body"])
                    if letter is not None:  # else a stranger's: no job of ours waits for it
                        reason = message.get("MessageAttributes", {}).get(REASON_ATTRIBUTE)
                        yield letter, reason["StringValue"] if reason else "received too often"
                if not messages:
                    break

    def close(self) -> None:
        """Close the connections."""
        self._app.close()
