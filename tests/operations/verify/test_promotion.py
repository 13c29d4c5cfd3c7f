"""A stage is promoted on the local stage: the real cdk command, one stack at a time, each verified before the next."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headway_ops.connection import Connection
from headway_ops.local import aws, deploy
from headway_ops.local.processes import Ledger
from headway_ops.local.running import LocalStage
from headway_ops.local.stage import local_stage
from headway_ops.simulate.assembly import read
from headway_ops.verify import Patience, Subject, verify_after, verify_before
from stacks.loading import load_stage
from stacks.promotion import IDS, STACKS

pytestmark = [pytest.mark.local_stage, pytest.mark.timeout(400)]

SPEED = 100.0


class Promotion:
    """A stage of which nothing is deployed yet."""

    def __init__(self, running: LocalStage) -> None:
        self._running, self._folder = running, Path(running.emulator.directory)
        settings = load_stage(running.name)
        templates = read(self._folder / "cdk.out" / f"assembly-{running.name}").templates
        emulator = running.emulator
        connection = Connection(running.name, running.client, speed=emulator.speed, answered=emulator.hosts)
        self.subject = Subject(settings, templates, connection, Patience(within_s=60))

    def deploy(self, stack: str) -> None:
        """Deploy one stack, and nothing else."""
        emulator = self._running.emulator
        account = deploy.Account(number=emulator.account, region=emulator.region, environment=aws.environment(emulator))
        log, ledger = self._folder / "cdk.log", Ledger(emulator.ledger)
        deploy.deploy(f"{self._running.name}/{IDS[stack]}", self._folder / "cdk.out", account, log, ledger)

    def deployed(self) -> set[str]:
        """Return the short names of the stacks that there are."""
        return set(self.subject.again().stacks)


@pytest.fixture(scope="module")
def promotion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Promotion]:
    """An account with nothing in it but the bootstrap, the database and the model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADWAY_STATE", str(tmp_path_factory.mktemp("state")))
        stage = local_stage(load_stage("local"), speed=SPEED, seed=1, report=lambda text: None, whole=False)
        with stage as running:
            for name, value in aws.environment(running.emulator).items():
                patch.setenv(name, value)
            yield Promotion(running)


@pytest.mark.parametrize("stack", STACKS)
def test_a_stack_is_deployed_when_the_earlier_ones_are_proven(stack: str, promotion: Promotion) -> None:
    """In order: every later one is refused, the next is allowed, deployed, and proven by what it does.

    The queues' proof is a message through each lane, the producer's a job through both, on real workers.
    """
    place = STACKS.index(stack)
    for later in STACKS[place + 1 :]:
        refused = [str(finding) for finding in verify_before(promotion.subject, later).findings]
        assert f"out-of-order: {later}: {stack} is not deployed: deploy it, and verify it" in refused
    assert verify_before(promotion.subject, stack).findings == []
    assert verify_after(promotion.subject, stack, canary=True).findings != []
    promotion.deploy(stack)
    assert promotion.deployed() == set(STACKS[: place + 1])
    assert verify_after(promotion.subject, stack, canary=True).findings == []


def test_the_canary_went_by_the_queues(promotion: Promotion) -> None:
    """What was sent through the lanes is gone again: nothing waits, nothing is among the dead letters."""
    lanes = promotion.subject.again().lanes.values()
    assert [queue.held for lane in lanes for queue in (lane.queue, lane.dead_letters)] == [0, 0, 0, 0]
