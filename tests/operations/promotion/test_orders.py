"""A hundred stages are promoted and rolled back in random orders: the rules let no message be lost.

Real here: CloudFormation's create and update of each stack, by its API, on templates that are cut down to what the
rules read; the queues, and every message in them. Not real: workers, which are a receive and a delete. That the whole
templates go through the cdk command in this order, with real workers, tests/operations/verify/test_promotion.py shows.
"""

import random
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from headway_ops.local import aws
from headway_ops.local.emulator.config import EmulatorConfig
from tests.operations.account import emulated_account
from tests.operations.promotion.shop import LEVELS, STACKS, Shop

pytestmark = pytest.mark.timeout(400)

ORDERS = 100
#: Enough to get a stage up and halfway back.
STEPS = 14


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorConfig]:
    """An account of this module's own."""
    with emulated_account(tmp_path_factory.mktemp("account")) as config:
        yield config


def walk(shop: Shop, chance: random.Random, *, guarded: bool) -> Counter[str]:
    """Take random steps, with jobs sent and worked on between them, and work on what is left; return what happened.

    Half the steps are the next one of a promotion to where the stage is meant to go, or it would seldom get anywhere.
    An order ends early where CloudFormation itself cannot take a step.
    """
    happened = Counter[str]()
    aim = chance.choice(LEVELS)
    for _ in range(STEPS):
        level = aim if chance.random() < 0.7 else chance.choice(LEVELS)
        stack = shop.next(level) if chance.random() < 0.5 else chance.choice(STACKS)
        if guarded and shop.refusals(stack, level):
            happened["refused"] += 1
        elif shop.deploy(stack, level):
            happened["deployed"] += 1
        else:
            break
        aim = chance.choice(LEVELS) if chance.random() < 0.2 else aim
        shop.send()
        if chance.random() < 0.5:
            shop.work()
    shop.work()
    happened["lost"] = shop.sent - shop.worked
    return happened


def shops(account: EmulatorConfig, kind: str, count: int) -> Iterator[tuple[Shop, random.Random]]:
    """Yield so many stages of which nothing is deployed, each with the chance of its seed."""
    client = cache(lambda service: aws.client(service, account))
    for seed in range(count):
        yield Shop(f"{kind}{seed}", client), random.Random(seed)


def test_no_legal_order_loses_a_message(account: EmulatorConfig) -> None:
    """All hundred end healthy, with every message that was sent worked on."""
    total = Counter[str]()
    for shop, chance in shops(account, "order", ORDERS):
        happened = walk(shop, chance, guarded=True)
        assert (happened["lost"], shop.healthy()) == (0, True), shop.name
        total += happened
    # Every order gets a whole stage up, and meets a step that it must not take.
    assert total["deployed"] > 4 * ORDERS
    assert total["refused"] > ORDERS


def test_without_the_rules_the_same_orders_lose_messages(account: EmulatorConfig) -> None:
    """The first ten, taken as they come: somewhere messages are left in a lane that nobody reads."""
    assert sum(walk(shop, chance, guarded=False)["lost"] for shop, chance in shops(account, "bold", 10)) > 0


def test_a_lane_that_has_left_its_queue_behind_must_adopt_it(account: EmulatorConfig) -> None:
    """CloudFormation makes no second queue of one name: asked before, the step names the queue and two ways out."""
    ((shop, _),) = shops(account, "again", 1)
    for level in ("ready", "off"):
        for stack in STACKS:
            shop.deploy(stack, level)
    (refused,) = shop.refusals("queues", "ready")
    assert refused.startswith("lane fast: queue headwaylocalqueues-Fast-")
    assert refused.endswith(" was retained: adopt it by cdk import, or set lanes.fast.queue_name")


def test_a_refused_step_changes_nothing(account: EmulatorConfig) -> None:
    """Every step that is none of the next, on a stage that is half up: refused by the rules, which only read."""
    ((shop, _),) = shops(account, "half", 1)
    for stack in ("queues", "jobstore", "consumer"):
        shop.deploy(stack, "ready")
    before = shop.deployed()
    steps = [(stack, level) for stack in STACKS for level in LEVELS]
    legal = {step for step in steps if not shop.refusals(*step)}
    # Queues may go anywhere while the lane is empty; what builds on them only beside the same release.
    assert legal == {("queues", level) for level in LEVELS} | {
        ("jobstore", "ready"),
        ("jobstore", "on"),
        ("consumer", "ready"),
        ("consumer", "on"),
        ("producer", "ready"),
    }
    assert shop.deployed() == before
