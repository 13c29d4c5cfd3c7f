"""What does a process need from its environment, and who promises to put it there?

Each environment is one frozen type with two ends: the CDK calls ``to_env()`` when it writes a task definition or a
function, and the process calls ``from_env(os.environ)`` when it starts. A variable is the field's name in capitals
behind ``HEADWAY_``, unless the field names another. Neither end spells a variable by hand, so they cannot disagree.
"""

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, get_type_hints

PREFIX = "HEADWAY_"

#: Where the bucket holds what producers upload, and what workers cut from it: each side's rights end at these.
DRAWINGS_PREFIX = "drawings/"
BLOCKS_PREFIX = "blocks/"


class ContractError(ValueError):
    """The environment does not hold what its type asks for; the message is one line that names the variable."""


def variable(name: str, default: Any = dataclasses.MISSING) -> Any:
    """Return a field whose variable is called ``name`` instead of the prefixed field name."""
    return field(default=default, metadata={"variable": name})


def given(name: str, default: Any) -> Any:
    """Return a field whose variable the process's surroundings give it: it is read, and never written."""
    return field(default=default, metadata={"variable": name, "given": True})


def _int(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ContractError(f"{name} must be an integer, got {text!r}") from None


def _float(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ContractError(f"{name} must be a number, got {text!r}") from None


def _bool(name: str, text: str) -> bool:
    if text not in ("on", "off"):
        raise ContractError(f"{name} must be on or off, got {text!r}")
    return text == "on"


def _mapping(name: str, text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ContractError(f"{name} must be a JSON object, got {text!r}")
    return value


_Reader = Callable[[str, str], Any]
_READERS: dict[type, _Reader] = {str: lambda _name, text: text, int: _int, float: _float, bool: _bool}


class Environment:
    """Both ends of one environment contract; subclasses are frozen dataclasses of text, numbers, bools and mappings."""

    @classmethod
    def variables(cls) -> dict[str, str]:
        """Return each field's variable name, by field name."""
        return {
            f.name: f.metadata.get("variable", PREFIX + f.name.upper())
            for f in dataclasses.fields(cls)  # type: ignore[arg-type]  # every subclass is a dataclass
        }

    def to_env(self) -> dict[str, str]:
        """Return the variables as text, without those whose value is empty and those that the surroundings give."""
        names = self.variables()
        values = {
            names[f.name]: getattr(self, f.name)
            for f in dataclasses.fields(self)  # type: ignore[arg-type]  # every subclass is a dataclass
            if not f.metadata.get("given")
        }
        return {variable: _text(value) for variable, value in values.items() if value != ""}

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self:
        """Parse the variables.

        Raises:
            ContractError: a variable is missing or holds the wrong kind of value.
        """
        hints: dict[str, type] = get_type_hints(cls)
        values: dict[str, Any] = {}
        for f in dataclasses.fields(cls):  # type: ignore[arg-type]  # every subclass is a dataclass
            name = cls.variables()[f.name]
            text = environ.get(name, "").strip()
            if text:
                read: _Reader = _READERS.get(hints[f.name], _mapping)
                values[f.name] = read(name, text)
            elif f.default is dataclasses.MISSING:
                raise ContractError(f"{name} is required")
        return cls(**values)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping):
        return json.dumps(dict(value), sort_keys=True)
    return str(value)


@dataclass(frozen=True, kw_only=True)
class BrokerEnv(Environment):
    """The lanes, for anything that sends to them or reads from them. Lane names map to queue URLs."""

    stage: str
    region: str
    queue_urls: Mapping[str, str]
    main_lane: str = "heavy"
    metric_namespace: str = "Headway"
    #: Stage seconds in a wall second. Only the local stage sets it; a deployed stage runs in true time.
    speed: float = given("HEADWAY_SPEED", 1.0)


@dataclass(frozen=True, kw_only=True)
class ProducerEnv(BrokerEnv):
    """What a sender needs. ``fast_queue`` is the rollout switch: a lane name, or empty for the main lane."""

    drawings_bucket: str
    fast_queue: str = variable("FAST_QUEUE", "")


@dataclass(frozen=True, kw_only=True)
class WebEnv(ProducerEnv):
    """What the web service needs; sizes are bytes of a request's body.

    ``watch_every_s`` is stage time; what bounds a connection or a session is wall time, as a person's patience is.
    ``https``: browsers reach it over TLS, so its cookies are marked as secure.
    """

    port: int
    https: bool
    max_upload_bytes: int
    max_body_bytes: int
    max_requests: int
    idle_timeout_s: int
    keepalive_s: int
    watch_every_s: float
    session_min: int
    stop_timeout_s: int
    #: host:port to listen on, where the surroundings give one; empty: ``port`` at every address of the container.
    bind: str = given("HEADWAY_BIND", "")


@dataclass(frozen=True, kw_only=True)
class WorkerEnv(ProducerEnv):
    """What a worker needs; durations are stage time, in the unit each name carries.

    ``dead_letter_urls`` maps lane names to the URLs of their dead-letter queues, for messages that can never run.
    """

    lane: str
    dead_letter_urls: Mapping[str, str]
    pool: str = "prefork"
    concurrency: int
    prefetch: int = 1
    max_inflight: int = 1
    wait_time_s: int = 20
    polling_interval_s: float = 0.1
    #: A worker that holds fewer messages leaves what comes to busier ones, and looks only each ``lazy_poll_s``.
    lazy_below: int = 0
    lazy_poll_s: float = 2.0
    visibility_timeout_s: int
    lease_beat_s: int
    soft_time_limit_s: int
    time_limit_s: int
    stop_timeout_s: int = 120
    protection: bool
    protection_min: int
    #: How often the fleet is counted for its scaling; an idle worker takes no work while that goes on.
    publish_every_s: int = 60
    model_base_url: str
    model_name: str
    model_timeout_s: int
    #: The calls that all tasks of the stage together may have in flight.
    quota_calls: int
    model_input_usd_per_mtok: float
    model_output_usd_per_mtok: float
    #: Set by the container's runtime: which container this is.
    host: str = given("HOSTNAME", "")
    #: Set by the ECS agent itself in every task of a service; never by the task definition.
    agent_uri: str = given("ECS_AGENT_URI", "")


@dataclass(frozen=True, kw_only=True)
class PublisherEnv(BrokerEnv):
    """What the metric publisher needs; ``plan`` is a ScalingPlan as a mapping of numbers."""

    cluster: str
    service: str
    plan: Mapping[str, Any]
    publish_every_s: int


@dataclass(frozen=True, kw_only=True)
class ReconcilerEnv(BrokerEnv):
    """What the reconciler needs; durations are stage seconds.

    ``idle_limit_s`` without a sign of life end a job; ``lease_s`` is the longest that a message stays hidden without
    one. ``fast_queue`` is the rollout switch, as for every sender.
    """

    dead_letter_urls: Mapping[str, str]
    fast_queue: str = variable("FAST_QUEUE", "")
    idle_limit_s: int
    lease_s: int


@dataclass(frozen=True, kw_only=True)
class MigrationEnv(Environment):
    """What the job store's migration needs beside its secrets: nothing."""


@dataclass(frozen=True, kw_only=True)
class DatabaseSecret(Environment):
    """The job store's coordinates, one variable a key of its secret; ECS injects them, no template holds them.

    Its user may call the job store's functions, and change jobs and steps by nothing else.
    """

    host: str = variable("DATABASE_HOST")
    port: int = variable("DATABASE_PORT")
    dbname: str = variable("DATABASE_NAME")
    username: str = variable("DATABASE_USER")
    password: str = variable("DATABASE_PASSWORD")


@dataclass(frozen=True, kw_only=True)
class OwnerSecret(Environment):
    """Who owns the job store's tables and may change them: what migrates it, and nothing else, is given this."""

    username: str = variable("DATABASE_OWNER_USER")
    password: str = variable("DATABASE_OWNER_PASSWORD")


@dataclass(frozen=True, kw_only=True)
class ModelSecret(Environment):
    """The model's key, injected by ECS from its secret."""

    api_key: str = variable("MODEL_API_KEY")


@dataclass(frozen=True, kw_only=True)
class WebSecret(Environment):
    """The web service's bearer token, injected by ECS from its secret."""

    token: str = variable("WEB_TOKEN")
