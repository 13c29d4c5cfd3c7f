"""Prices with their date, from a file that can be replaced."""

import tomllib
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

import pydantic


class PricesError(ValueError):
    """Prices that cannot be used; the message is one line: file, field, value, bound."""


class CallTokens(pydantic.BaseModel):
    """Tokens of one model call: low, expected and high."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    input: tuple[pydantic.NonNegativeInt, pydantic.NonNegativeInt, pydantic.NonNegativeInt]
    output: tuple[pydantic.NonNegativeInt, pydantic.NonNegativeInt, pydantic.NonNegativeInt]


class Prices(pydantic.BaseModel):
    """Dollars by the unit in each name, as of a day."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    as_of: date
    source: str
    fargate_vcpu_h_usd: pydantic.NonNegativeFloat
    fargate_gib_h_usd: pydantic.NonNegativeFloat
    lambda_gib_s_usd: pydantic.NonNegativeFloat
    lambda_million_requests_usd: pydantic.NonNegativeFloat
    metric_month_usd: pydantic.NonNegativeFloat
    alarm_month_usd: pydantic.NonNegativeFloat
    fast_alarm_month_usd: pydantic.NonNegativeFloat
    put_thousand_usd: pydantic.NonNegativeFloat
    log_gib_usd: pydantic.NonNegativeFloat
    sqs_million_requests_usd: pydantic.NonNegativeFloat
    call_tokens: CallTokens

    def task_h_usd(self, *, cpu_units: int, memory_mib: int) -> float:
        """Return what one task costs an hour."""
        return self.fargate_vcpu_h_usd * cpu_units / 1_024 + self.fargate_gib_h_usd * memory_mib / 1_024


def load_prices(path: Path | None = None) -> Prices:
    """Return the prices of a file, or those that come with Headway.

    Raises:
        PricesError: the file cannot be read, or a price in it cannot be used.
    """
    name = path.name if path else "prices.toml"
    try:
        text = (path or files("headway_ops.costs") / "prices.toml").read_text(encoding="utf-8")
        values: dict[str, Any] = tomllib.loads(text)
    except OSError as error:
        raise PricesError(f"{name}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise PricesError(f"{name}: not TOML: {error}") from None
    try:
        return Prices.model_validate(values)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise PricesError(f"{name}: {field}: {first['msg'].lower()}") from None
