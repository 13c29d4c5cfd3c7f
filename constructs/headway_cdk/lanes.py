"""One lane of work: a standard queue, the dead-letter queue behind it, and grants that name both exactly."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from headway.contract.rights import BURY, CONSUME, COUNT, LOOK, SEND

# "Configuring AWS KMS permissions for Amazon SQS" (SQS developer guide): what each side of an encrypted queue needs.
_KMS_CONSUME = ("kms:Decrypt",)
_KMS_SEND = ("kms:GenerateDataKey", "kms:Decrypt")


class Lane(Construct):
    """A queue and its dead-letter queue, both encrypted, TLS only and retained when the stack goes.

    Durations are seconds. The dead-letter queue takes messages from this queue alone. A standard queue's dead letter
    keeps its first enqueue time, so its retention must exceed the queue's ("Using dead-letter queues", SQS guide).

    Raises:
        ValueError: the properties contradict each other.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        visibility_timeout_s: int,
        wait_time_s: int = 20,
        retention_s: int = 345_600,
        dlq_retention_s: int = 1_209_600,
        max_receives: int = 5,
        max_message_bytes: int = 262_144,
        queue_name: str = "",
        encryption_key: kms.IKey | None = None,
    ) -> None:
        if queue_name.endswith(".fifo"):
            raise ValueError(f"queue_name={queue_name!r}: a lane is a standard queue; drop .fifo")
        if dlq_retention_s <= retention_s:
            raise ValueError(f"dlq_retention_s={dlq_retention_s} <= retention_s={retention_s}: evidence expires first")
        if not 0 <= wait_time_s < visibility_timeout_s:
            raise ValueError(f"wait_time_s={wait_time_s} must be 0..visibility_timeout_s={visibility_timeout_s}")
        super().__init__(scope, id_)
        self.visibility_timeout_s = visibility_timeout_s
        self.wait_time_s = wait_time_s
        self._key = encryption_key
        name = queue_name or self._generated_name()
        # The redrive policies name each other's queue, so one ARN must be known before its queue exists.
        arn = cdk.Stack.of(self).format_arn(service="sqs", resource=name)
        encryption = sqs.QueueEncryption.KMS if encryption_key else sqs.QueueEncryption.SQS_MANAGED
        self.dead_letters = sqs.Queue(
            self,
            "DeadLetters",
            queue_name=f"{queue_name}-dead-letters" if queue_name else None,
            retention_period=cdk.Duration.seconds(dlq_retention_s),
            max_message_size_bytes=max_message_bytes,
            redrive_allow_policy=sqs.RedriveAllowPolicy(
                redrive_permission=sqs.RedrivePermission.BY_QUEUE,
                source_queues=[sqs.Queue.from_queue_arn(self, "Source", arn)],
            ),
            encryption=encryption,
            encryption_master_key=encryption_key,
            enforce_ssl=True,
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
        self.queue = sqs.Queue(
            self,
            "Queue",
            queue_name=name,
            visibility_timeout=cdk.Duration.seconds(visibility_timeout_s),
            receive_message_wait_time=cdk.Duration.seconds(wait_time_s),
            retention_period=cdk.Duration.seconds(retention_s),
            max_message_size_bytes=max_message_bytes,
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=max_receives),
            encryption=encryption,
            encryption_master_key=encryption_key,
            enforce_ssl=True,
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )

    def _generated_name(self) -> str:
        """Return a name as CloudFormation generates one: another in every stack, so that none meets a retained queue.

        The last group of the stack id's UUID tells one life of the stack from the next. Within one life the name is
        the same: a lane that is removed and comes back must adopt its retained queue, or be given a name.
        """
        life = cdk.Fn.select(4, cdk.Fn.split("-", cdk.Fn.select(2, cdk.Fn.split("/", cdk.Aws.STACK_ID))))
        return f"{cdk.Names.unique_resource_name(self, max_length=60, separator='-')}-{life}"

    def grant_consume(self, grantee: iam.IGrantable) -> None:
        """Let ``grantee`` receive, extend, hand back and delete this lane's messages."""
        self._grant(grantee, CONSUME, self.queue, _KMS_CONSUME)

    def grant_send(self, grantee: iam.IGrantable) -> None:
        """Let ``grantee`` send to this lane."""
        self._grant(grantee, SEND, self.queue, _KMS_SEND)

    def grant_bury(self, grantee: iam.IGrantable) -> None:
        """Let ``grantee`` put a message that can never run among the dead letters, with its reason."""
        self._grant(grantee, BURY, self.dead_letters, _KMS_SEND)

    def grant_count(self, grantee: iam.IGrantable) -> None:
        """Let ``grantee`` read the lane's message counts."""
        self._grant(grantee, COUNT, self.queue, ())

    def grant_look(self, grantee: iam.IGrantable) -> None:
        """Let ``grantee`` see the dead letters; without the right to delete, they stay."""
        self._grant(grantee, LOOK, self.dead_letters, _KMS_CONSUME)

    def _grant(
        self, grantee: iam.IGrantable, actions: Sequence[str], queue: sqs.IQueue, key_actions: Sequence[str]
    ) -> None:
        iam.Grant.add_to_principal(grantee=grantee, actions=list(actions), resource_arns=[queue.queue_arn])
        if self._key and key_actions:
            iam.Grant.add_to_principal(grantee=grantee, actions=list(key_actions), resource_arns=[self._key.key_arn])
