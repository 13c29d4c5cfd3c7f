"""One stage: its stacks, in the order they are promoted."""

import itertools

import aws_cdk as cdk
from constructs import Construct

from stacks.consumer import ConsumerStack
from stacks.jobstore import JobStoreStack
from stacks.network import NetworkStack
from stacks.producer import ProducerStack
from stacks.promotion import stacks_of
from stacks.queues import QueueStack
from stacks.settings import StageSettings


class Deployment(cdk.Stage):
    """Infrastructure, then consumers, then producers: a message is never sent before something can take it."""

    def __init__(self, scope: Construct, id_: str, *, settings: StageSettings) -> None:
        boundary = settings.governance.permissions_boundary_arn
        super().__init__(
            scope,
            id_,
            env=cdk.Environment(account=settings.account or None, region=settings.region),
            permissions_boundary=cdk.PermissionsBoundary.from_arn(boundary) if boundary else None,
        )
        if settings.governance.bootstrap_qualifier:
            # Where every stack's synthesizer looks first (aws-cdk-lib, DefaultStackSynthesizer).
            self.node.set_context("@aws-cdk/core:bootstrapQualifier", settings.governance.bootstrap_qualifier)
        prefix = f"headway-{settings.name}"
        network = (
            None
            if settings.network.vpc_id
            else NetworkStack(self, "Network", settings=settings, stack_name=f"{prefix}-network")
        )
        vpc = network.vpc if network else None
        queues = QueueStack(self, "Queues", settings=settings, stack_name=f"{prefix}-queues")
        store = JobStoreStack(self, "JobStore", settings=settings, stack_name=f"{prefix}-jobstore", vpc=vpc)
        consumer = ConsumerStack(
            self,
            "Consumer",
            settings=settings,
            stack_name=f"{prefix}-consumer",
            vpc=vpc,
            queues=queues,
            store=store,
        )
        producer = ProducerStack(
            self,
            "Producer",
            settings=settings,
            stack_name=f"{prefix}-producer",
            queues=queues,
            store=store,
            consumer=consumer,
        )
        #: The stage's stacks in promotion order, by their short names.
        self.promoted: dict[str, cdk.Stack] = dict(
            zip(stacks_of(settings), filter(None, (network, queues, store, consumer, producer)), strict=True)
        )
        # Stacks that only share references deploy side by side; the promotion order is stated, not inferred. One after
        # the other, each can be verified before the next begins.
        for earlier, later in itertools.pairwise(self.promoted.values()):
            later.add_stack_dependency(earlier)
        for name, value in {**settings.governance.tags, "headway:stage": settings.name}.items():
            cdk.Tags.of(self).add(name, value)
