"""A whole stage as AWS has it, each part read when it is first asked for."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

from headway.worker.effective import REPORT
from headway_ops.deployed.lanes import DeployedLane, read_queue
from headway_ops.deployed.scaling import DeployedScaling, read_scaling
from headway_ops.deployed.services import DeployedService, log_lines, read_services
from headway_ops.deployed.stack import Stack, read_stack
from stacks.promotion import STACKS

#: Every lane that a stage may have, by name.
LANES = ("heavy", "fast")


class DeployedStage:
    """Reads through ``client``, which gives the boto3 client of a service by its name; nothing is changed.

    ``answered`` maps host names of the template to the addresses that a local stage answers for them with.
    """

    def __init__(
        self, name: str, client: Callable[[str], Any], answered: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.name, self.client, self._answered = name, client, answered

    @cached_property
    def stacks(self) -> Mapping[str, Stack]:
        """The stacks that there are, by their short names."""
        cloudformation = self.client("cloudformation")
        found = {short: read_stack(cloudformation, f"headway-{self.name}-{short}") for short in STACKS}
        return {short: stack for short, stack in found.items() if stack is not None}

    @cached_property
    def lanes(self) -> Mapping[str, DeployedLane]:
        """The queues stack's lanes, by name."""
        sqs, found = self.client("sqs"), {}
        for lane in LANES:
            queues, kind = self.stacks.get("queues"), "AWS::SQS::Queue"
            queue = queues.one(kind, f"{lane.capitalize()}Queue") if queues else None
            letters = queues.one(kind, f"{lane.capitalize()}DeadLetters") if queues else None
            if queue and letters:
                found[lane] = DeployedLane(read_queue(sqs, queue.physical_id), read_queue(sqs, letters.physical_id))
        return found

    @cached_property
    def services(self) -> Sequence[DeployedService]:
        """The services of the consumer and the producer stack."""
        ecs, stacks = self.client("ecs"), self.stacks
        return [s for short in ("consumer", "producer") if short in stacks for s in read_services(ecs, stacks[short])]

    @property
    def workers(self) -> Mapping[str, DeployedService]:
        """The services that consume a lane, by its name."""
        return {service.lane: service for service in self.services if service.lane}

    @cached_property
    def scaling(self) -> DeployedScaling | None:
        """The control loop, None without a consumer stack."""
        return read_scaling(self.client, self.stacks["consumer"]) if "consumer" in self.stacks else None

    def told(self, service: DeployedService) -> Mapping[str, Mapping[str, Any]]:
        """Return the newest report of each running task of a lane, by the task's ARN, empty where it wrote none."""
        lines = log_lines(self.client("logs"), service, f'{{ $.headway = "{REPORT}" }}')
        return {
            arn: next((said for line in reversed(own) if (said := self._object(line)).get("headway") == REPORT), {})
            for arn, own in lines.items()
        }

    def _object(self, line: str) -> Mapping[str, Any]:
        for host, address in self._answered.items():
            line = line.replace(f"//{address}", f"//{host}")
        try:
            value = json.loads(line)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}
