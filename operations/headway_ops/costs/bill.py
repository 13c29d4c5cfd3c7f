"""A month's bill, line by line, from one simulated run: low, expected and high."""

from collections.abc import Iterator
from dataclasses import dataclass

from headway_ops.costs.prices import Prices
from headway_ops.simulate import Outcome, SimulatedStage
from stacks.settings import Model

MONTH_H = 730.0
#: How long the publisher's function runs: one beat, or until its last beat of the minute.
_BEAT_S = 0.5
_FUNCTION_GIB = 0.25
#: Metrics: four of the scaled lane, two of each lane, six of each model call's line.
_METRICS = 14
#: A call's metric line and a worker's own lines for it.
_LOG_KIB_PER_CALL = 2.0
#: Sent, received and deleted; extensions go ten in a request (ChangeMessageVisibilityBatch).
_REQUESTS_PER_MESSAGE, _EXTENDED_PER_REQUEST = 3, 10


@dataclass(frozen=True, kw_only=True)
class Cost:
    """One line of a bill, in dollars a month."""

    name: str
    low: float
    expected: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Bill:
    """A month of a stage. ``task_h``: heavy task-hours a month, low, expected and high."""

    costs: tuple[Cost, ...]
    task_h: tuple[float, float, float]

    @property
    def total(self) -> Cost:
        """All lines together."""
        return Cost(
            name="total",
            low=sum(cost.low for cost in self.costs),
            expected=sum(cost.expected for cost in self.costs),
            high=sum(cost.high for cost in self.costs),
        )

    @property
    def fleet_usd(self) -> float:
        """What is expected without the model's own price, which no fleet changes."""
        return sum(cost.expected for cost in self.costs if cost.name != "model calls")


def bill(stage: SimulatedStage, run: Outcome, model: Model, prices: Prices) -> Bill:
    """Return the bill of months like ``run``.

    Low has the task-hours that the calls alone would fill, high a fleet at its cap all the time; calls take the low and
    the high numbers of tokens.
    """
    months = MONTH_H / run.hours
    full = run.call_h / stage.heavy.concurrency, run.task_h, stage.scaling.target.max_capacity * run.hours
    low, expected, high = (hours * months for hours in full)
    task_h = low, expected, high
    return Bill(costs=tuple(_costs(stage, run, model, prices, months, task_h)), task_h=task_h)


def _costs(
    stage: SimulatedStage,
    run: Outcome,
    model: Model,
    prices: Prices,
    months: float,
    task_h: tuple[float, float, float],
) -> Iterator[Cost]:
    heavy_usd = prices.task_h_usd(cpu_units=stage.heavy.cpu_units, memory_mib=stage.heavy.memory_mib)
    low, expected, high = (hours * heavy_usd for hours in task_h)
    yield Cost(name="heavy tasks", low=low, expected=expected, high=high)
    if stage.fast:
        fast_usd = prices.task_h_usd(cpu_units=stage.fast.cpu_units, memory_mib=stage.fast.memory_mib)
        yield _sure("interactive tasks", stage.fast.tasks * MONTH_H * fast_usd)
    every_s = stage.scaling.publish_every_s
    seconds = 60 - every_s + _BEAT_S
    minutes = MONTH_H * 60
    yield _sure(
        "publisher",
        minutes * (seconds * _FUNCTION_GIB * prices.lambda_gib_s_usd + prices.lambda_million_requests_usd / 1e6),
    )
    alarms = sum(
        prices.fast_alarm_month_usd if alarm.period_s < 60 else prices.alarm_month_usd for alarm in stage.scaling.alarms
    )
    puts = MONTH_H * 3_600 / every_s / 1_000 * prices.put_thousand_usd
    logs = run.calls * months * _LOG_KIB_PER_CALL / 1_024**2 * prices.log_gib_usd
    yield _sure("CloudWatch", _METRICS * prices.metric_month_usd + alarms + puts + logs)
    extensions = run.call_h * 3_600 / stage.heavy.lease_beat_s / _EXTENDED_PER_REQUEST
    polls = run.task_h * 3_600 / stage.heavy.wait_time_s
    requests = (run.messages * _REQUESTS_PER_MESSAGE + extensions + polls) * months
    yield _sure("SQS requests", requests / 1e6 * prices.sqs_million_requests_usd)
    tokens = prices.call_tokens
    dollars = [
        run.calls * months * (sent * model.input_usd_per_mtok + got * model.output_usd_per_mtok) / 1e6
        for sent, got in zip(tokens.input, tokens.output, strict=True)
    ]
    yield Cost(name="model calls", low=dollars[0], expected=dollars[1], high=dollars[2])


def _sure(name: str, dollars: float) -> Cost:
    return Cost(name=name, low=dollars, expected=dollars, high=dollars)
