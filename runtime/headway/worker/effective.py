"""What does a worker really run with? Each value as Celery and Kombu hold it, where it comes from, and what is ignored.

Kombu 5.7 takes many options and reads few of them once ``predefined_queues`` is given; an option that it ignores looks
like a setting and is none.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import celery

from headway.contract import WorkerEnv
from headway.worker.settings import worker_settings

#: What marks the line in a worker's log.
REPORT = "effective"

_OPTIONS = "broker_transport_options"
_FIXED = "Headway"

#: The variable behind each setting that is not the same in every stage, by its field.
_FIELDS = {
    "broker_transport_options.region": "region",
    "broker_transport_options.predefined_queues": "queue_urls",
    "broker_transport_options.wait_time_seconds": "wait_time_s",
    "broker_transport_options.polling_interval": "polling_interval_s",
    "broker_transport_options.lazy_below": "lazy_below",
    "broker_transport_options.lazy_after_s": "lazy_after_s",
    "broker_transport_options.lazy_poll_s": "lazy_poll_s",
    "broker_transport_options.dead_letters": "dead_letter_urls",
    "task_queues": "queue_urls",
    "task_default_queue": "main_lane",
    "task_soft_time_limit": "soft_time_limit_s",
    "task_time_limit": "time_limit_s",
    "worker_prefetch_multiplier": "prefetch",
    "worker_concurrency": "concurrency",
    "worker_pool": "pool",
}

#: Options that Kombu 5.7.0 does not read beside predefined queues, and what counts instead
#: (kombu/transport/SQS/__init__.py: Channel._new_queue is the only reader of the first three).
_IGNORED = {
    "visibility_timeout": "it is read where a queue is created, and none is; the queue's own VisibilityTimeout counts",
    "sqs-creation-attributes": "no queue is created; set the queue's attributes",
    "queue_tags": "no queue is created; set the queue's tags",
    "queue_name_prefix": "predefined queues are found by their names; with a prefix a worker cannot start",
    "endpoint_url": "Kombu makes it of the broker URL's host; set AWS_ENDPOINT_URL_SQS",
}
#: What Kombu reads of one predefined queue (Channel.new_sqs_client's callers, QoS.apply_backoff_policy).
_READ_OF_A_QUEUE = {
    "url", "region", "access_key_id", "secret_access_key", "session_token", "backoff_policy", "backoff_tasks",
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """One value, as text that holds no secret, and its source."""

    name: str
    value: str
    source: str


@dataclass(frozen=True)
class Effective:
    """All values, and one line for each option that does nothing."""

    settings: tuple[Setting, ...]
    warnings: tuple[str, ...]

    def to_json(self) -> str:
        """Return both as one JSON document."""
        return json.dumps(asdict(self), indent=2)

    def to_line(self) -> str:
        """Return both as the line that a worker writes into its log when it starts, marked as such."""
        return json.dumps({"headway": REPORT, **asdict(self)}, separators=(",", ":"))

    def to_text(self) -> str:
        """Return the values as three columns: name, source, value."""
        names = max(len(setting.name) for setting in self.settings)
        sources = max(len(setting.source) for setting in self.settings)
        return "\n".join(f"{s.name:<{names}}  {s.source:<{sources}}  {s.value}".rstrip() for s in self.settings)


def effective(app: celery.Celery, env: WorkerEnv, environ: Mapping[str, str]) -> Effective:
    """Return what a configured app's worker runs with; it opens no connection."""
    clock = app.headway.clock  # type: ignore[attr-defined]  # set by configure
    names = [*worker_settings(env, clock), "worker_concurrency", "worker_pool"]
    pool = {"worker_concurrency": env.concurrency, "worker_pool": env.pool}
    held = {name: pool.get(name, app.conf.get(name)) for name in names}
    rows = [Setting(name, _text(value), _source(name, env, environ)) for name, value in _flat(held)]
    rows += [
        Setting(variable, _text(getattr(env, field)), _variable(field, env, environ))
        for field, variable in env.variables().items()
        if field not in _FIELDS.values()
    ]
    return Effective(tuple(rows), tuple(ignored(app.conf.get(_OPTIONS) or {})))


def ignored(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each transport option that Kombu does not read."""
    for name, instead in _IGNORED.items():
        if name in options:
            yield f"{_OPTIONS}.{name} is ignored: {instead}"
    for queue, settings in options.get("predefined_queues", {}).items():
        for name in sorted(set(settings) - _READ_OF_A_QUEUE):
            yield f"{_OPTIONS}.predefined_queues.{queue}.{name} is ignored: Kombu reads no such key of one queue"


def _flat(held: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, value in held.items():
        if name == _OPTIONS:
            yield from ((f"{name}.{option}", each) for option, each in value.items())
        else:
            yield name, value


def _source(name: str, env: WorkerEnv, environ: Mapping[str, str]) -> str:
    return _variable(_FIELDS[name], env, environ) if name in _FIELDS else _FIXED


def _variable(field: str, env: WorkerEnv, environ: Mapping[str, str]) -> str:
    variable = env.variables()[field]
    return variable if environ.get(variable, "").strip() else f"{variable} (not set: its default)"


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return json.dumps(dict(value), sort_keys=True)
    if isinstance(value, list):
        return ", ".join(getattr(each, "name", str(each)) for each in value)
    return str(value)
