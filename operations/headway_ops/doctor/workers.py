"""Does a running worker run with what it was told? By its own report, written when it started."""

from collections.abc import Iterator, Mapping
from typing import Any

from headway_ops.deployed import DeployedService
from headway_ops.doctor.finding import Finding
from headway_ops.doctor.telling import mapping

_WAIT = "broker_transport_options.wait_time_seconds"
_QUEUES = "broker_transport_options.predefined_queues"
#: Kombu's own long poll where nobody sets one, seconds (kombu 5.7.0, transport/SQS: default_wait_time_seconds).
_KOMBU_WAIT_S = 10
#: Settings that hold their variable's value as it was written: durations of a faster stage do not.
_PLAIN = (
    _WAIT,
    "broker_transport_options.polling_interval",
    "worker_prefetch_multiplier",
    "worker_concurrency",
    "worker_pool",
)


def check_worker(service: DeployedService, report: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what one worker's report says that its service's stack does not."""
    rows = {row["name"]: row for row in report["settings"]}
    if _WAIT not in rows:
        yield Finding(
            "wait-default", service.lane, f"the worker sets no long poll: Kombu's own {_KOMBU_WAIT_S} s counts"
        )
    for name, row in rows.items():
        variable, _, default = row["source"].partition(" ")
        asked = service.asked.variables.get(variable)
        if default and asked is not None:
            says = f"the worker runs with {name} = {row['value']}, a default; its stack's {variable} is {asked}"
            yield Finding("wait-default" if name == _WAIT else "default-in-use", service.lane, says)
        elif asked is not None and (name in _PLAIN or name == variable) and not _same(row["value"], asked):
            says = f"the worker runs with {name} = {row['value']}, its stack's {variable} is {asked}"
            yield Finding("worker-differs", service.lane, says)
    for warning in report["warnings"]:
        name = "per-queue-visibility" if "visibility_timeout is ignored" in warning else "ignored-option"
        yield Finding(name, service.lane, warning)
    yield from _aliases(service, mapping(rows.get(_QUEUES, {}).get("value", "")))


def _aliases(service: DeployedService, queues: Mapping[str, Any]) -> Iterator[Finding]:
    by_url: dict[str, list[str]] = {}
    for lane, options in queues.items():
        by_url.setdefault(options.get("url", ""), []).append(lane)
    for lanes in by_url.values():
        if len(lanes) > 1:
            yield Finding(
                "lane-alias", service.lane, f"lanes {' and '.join(sorted(lanes))} are one queue to the worker"
            )


def _same(effective: str, told: str) -> bool:
    """The contract writes on and off, Python True and False; numbers are numbers."""
    words = {"on": "True", "off": "False"}
    try:
        return float(effective) == float(told)
    except ValueError:
        return effective in (told, words.get(told)) or (bool(mapping(told)) and mapping(effective) == mapping(told))
