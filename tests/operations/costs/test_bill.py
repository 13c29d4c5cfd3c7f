"""A bill is usage times price, by arithmetic."""

import dataclasses
from pathlib import Path

import pytest

from headway_ops.costs import PricesError, bill, load_prices
from headway_ops.simulate import Outcome, SimulatedStage, simulate
from headway_ops.simulate.policies import headway
from headway_ops.simulate.workload import load_workload
from stacks.loading import load_stage

PRICES = load_prices()
MODEL = load_stage("prod").model


@pytest.fixture(scope="module")
def month(prod: SimulatedStage) -> Outcome:
    """A run as if it had lasted one month of 730 hours with a thousand task-hours and 10,000 calls of half an hour."""
    run = simulate(load_workload("trickle"), headway(prod), quota=120, seed=1)
    return dataclasses.replace(run, hours=730.0, task_h=1_000.0, call_h=5_000.0, calls=10_000, messages=12_000)


def test_a_task_costs_its_cpu_and_memory() -> None:
    """One vCPU and 4 GiB: 0.04048 + 4 x 0.004445 dollars an hour."""
    assert PRICES.task_h_usd(cpu_units=1_024, memory_mib=4_096) == pytest.approx(0.05826)


def test_every_line_is_usage_times_price(prod: SimulatedStage, month: Outcome) -> None:
    """Worked by hand, for prod at ten seconds."""
    lines = {cost.name: cost for cost in bill(prod, month, MODEL, PRICES).costs}
    heavy = lines["heavy tasks"]
    # What the calls alone would fill, what ran, and 15 tasks all the time.
    assert heavy.low == pytest.approx(5_000 / 8 * 0.05826)
    assert heavy.expected == pytest.approx(1_000 * 0.05826)
    assert heavy.high == pytest.approx(15 * 730 * 0.05826)
    assert lines["interactive tasks"].expected == pytest.approx(2 * 730 * 0.05826)
    # 43,800 invocations of 50.5 s in a quarter of a GiB.
    assert lines["publisher"].expected == pytest.approx(43_800 * (50.5 * 0.25 * 0.0000133334 + 0.2e-6))
    # 14 metrics, 2 fast alarms, a put each ten seconds, 2 KiB of log a call.
    puts, logs = 262_800 / 1_000 * 0.01, 10_000 * 2 / 1_024**2 * 0.5
    assert lines["CloudWatch"].expected == pytest.approx(14 * 0.3 + 2 * 0.3 + puts + logs)
    # Three requests a message, an extension each 40 s by tens, a long poll each 20 s.
    requests = 12_000 * 3 + 5_000 * 3_600 / 40 / 10 + 1_000 * 3_600 / 20
    assert lines["SQS requests"].expected == pytest.approx(requests * 0.4e-6)
    # 10,000 calls of 3,000 tokens at 0.25 and 1,500 at 2 dollars a million.
    assert lines["model calls"].expected == pytest.approx(10_000 * (3_000 * 0.25 + 1_500 * 2) / 1e6)


def test_total_adds_up_and_the_fleet_leaves_the_model_out(prod: SimulatedStage, month: Outcome) -> None:
    """The last line is the sum of the others; low <= expected <= high in each."""
    done = bill(prod, month, MODEL, PRICES)
    assert done.total.expected == pytest.approx(sum(cost.expected for cost in done.costs))
    model = next(cost for cost in done.costs if cost.name == "model calls")
    assert done.fleet_usd == pytest.approx(done.total.expected - model.expected)
    assert all(cost.low <= cost.expected <= cost.high for cost in done.costs)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "prices.toml: cannot be read: No such file or directory"),
        ("as_of", "prices.toml: not TOML: "),
        ("as_of = 2026-01-01\n", "prices.toml: source: field required"),
        ("as_of = 'soon'\n", "prices.toml: as_of: "),
    ],
)
def test_prices_that_cannot_be_used_are_one_line(text: str | None, says: str, tmp_path: Path) -> None:
    """Missing, no TOML, incomplete, no date."""
    path = tmp_path / "prices.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(PricesError) as refused:
        load_prices(path)
    assert str(refused.value).startswith(says)
    assert "\n" not in str(refused.value)


def test_a_negative_price_is_refused(tmp_path: Path) -> None:
    """A price is no subsidy."""
    own = Path(load_prices.__code__.co_filename).with_name("prices.toml").read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(own.replace("fargate_vcpu_h_usd = 0.04048", "fargate_vcpu_h_usd = -1"), encoding="utf-8")
    with pytest.raises(PricesError, match=r"mine\.toml: fargate_vcpu_h_usd: input should be greater than"):
        load_prices(path)
