"""The lanes of a stage."""

import aws_cdk as cdk
from constructs import Construct

from headway_cdk import Lane
from stacks.encryption import key_for
from stacks.settings import StageSettings


class QueueStack(cdk.Stack):
    """One lane for each that the stage consumes; ``lanes`` maps their names to them."""

    def __init__(self, scope: Construct, id_: str, *, settings: StageSettings, stack_name: str) -> None:
        super().__init__(scope, id_, stack_name=stack_name, termination_protection=settings.termination_protection)
        key = key_for(self, settings)
        self.lanes = {
            name: Lane(
                self,
                name.capitalize(),
                queue_name=lane.queue_name,
                visibility_timeout_s=lane.visibility_timeout_s,
                wait_time_s=lane.wait_time_s,
                retention_s=lane.retention_s,
                dlq_retention_s=lane.dlq_retention_s,
                max_receives=lane.max_receives,
                max_message_bytes=lane.max_message_bytes,
                encryption_key=key,
            )
            for name, (lane, _service) in settings.consumed_lanes.items()
        }

    @property
    def urls(self) -> dict[str, str]:
        """The queue URLs by lane name."""
        return {name: lane.queue.queue_url for name, lane in self.lanes.items()}

    @property
    def dead_letter_urls(self) -> dict[str, str]:
        """The dead-letter queues' URLs by lane name."""
        return {name: lane.dead_letters.queue_url for name, lane in self.lanes.items()}
