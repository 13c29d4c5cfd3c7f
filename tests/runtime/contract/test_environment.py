"""The environment contracts: what one end writes the other end reads, and what is missing is named."""

import dataclasses
from collections.abc import Mapping
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.contract import (
    ContractError,
    DatabaseSecret,
    Environment,
    ModelSecret,
    ProducerEnv,
    PublisherEnv,
    WebEnv,
    WebSecret,
    WorkerEnv,
)

CONTRACTS: list[type[Environment]] = [
    ProducerEnv,
    WebEnv,
    WorkerEnv,
    PublisherEnv,
    DatabaseSecret,
    ModelSecret,
    WebSecret,
]

#: Text that an environment variable can carry: no NUL, and no blanks around it, which are not significant.
texts = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1).filter(
    lambda text: text == text.strip()
)
values: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: st.integers(),
    float: st.floats(allow_nan=False),
    bool: st.booleans(),
    Mapping[str, str]: st.dictionaries(texts, texts),
    Mapping[str, Any]: st.dictionaries(texts, st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts),
}


def environments(contract: type[Environment]) -> st.SearchStrategy[Environment]:
    """Return any environment of one contract, as a template writes it."""
    hints = get_type_hints(contract)
    fields = dataclasses.fields(contract)  # type: ignore[arg-type]  # every contract is a dataclass
    names = [f.name for f in fields if not f.metadata.get("given")]
    return st.builds(contract, **{name: values[hints[name]] for name in names})


@pytest.mark.parametrize("contract", CONTRACTS)
@given(data=st.data())
def test_what_is_written_is_what_is_read(contract: type[Environment], data: st.DataObject) -> None:
    """Any environment survives the trip through text, and every variable of it is text."""
    given_env = data.draw(environments(contract))
    written = given_env.to_env()
    assert {type(value) for value in written.values()} <= {str}
    assert contract.from_env(written) == given_env


@given(environments(WorkerEnv), st.floats(1, 600), texts, texts)
def test_what_the_surroundings_give_is_read_and_never_written(
    env: WorkerEnv, speed: float, host: str, uri: str
) -> None:
    """The stage's speed, the container's name and the agent's address are no template's to set."""
    surroundings = {"HEADWAY_SPEED": str(speed), "HOSTNAME": host, "ECS_AGENT_URI": uri}
    read = WorkerEnv.from_env({**env.to_env(), **surroundings})
    assert (read.speed, read.host, read.agent_uri) == (speed, host, uri)
    assert not surroundings.keys() & read.to_env().keys()


def database(**changes: str) -> dict[str, str]:
    """Return the database secret's variables."""
    return {
        "DATABASE_HOST": "db",
        "DATABASE_PORT": "5432",
        "DATABASE_NAME": "headway",
        "DATABASE_USER": "headway",
        "DATABASE_PASSWORD": "secret",
        **changes,
    }


@pytest.mark.parametrize(
    ("contract", "environ", "message"),
    [
        (ModelSecret, {}, "MODEL_API_KEY is required"),
        (ModelSecret, {"MODEL_API_KEY": "  "}, "MODEL_API_KEY is required"),
        (DatabaseSecret, database(DATABASE_PORT="two"), "DATABASE_PORT must be an integer, got 'two'"),
        (
            ProducerEnv,
            {"HEADWAY_STAGE": "a", "HEADWAY_REGION": "b", "HEADWAY_QUEUE_URLS": "[]"},
            r"HEADWAY_QUEUE_URLS must be a JSON object, got '\[\]'",
        ),
        (
            ProducerEnv,
            {"HEADWAY_STAGE": "a", "HEADWAY_REGION": "b", "HEADWAY_QUEUE_URLS": "{"},
            "HEADWAY_QUEUE_URLS must be a JSON object, got '{'",
        ),
        (
            ProducerEnv,
            {"HEADWAY_STAGE": "a", "HEADWAY_REGION": "b", "HEADWAY_QUEUE_URLS": "{}", "HEADWAY_SPEED": "fast"},
            "HEADWAY_SPEED must be a number, got 'fast'",
        ),
    ],
)
def test_bad_environment_names_its_variable(contract: type[Environment], environ: dict[str, str], message: str) -> None:
    """One line: the variable, what it must be, what it was."""
    with pytest.raises(ContractError, match=f"^{message}$"):
        contract.from_env(environ)


def test_switch_must_be_on_or_off() -> None:
    """A switch takes two words, and "true" is neither."""
    values: dict[str, Any] = {f.name: 1 for f in dataclasses.fields(WorkerEnv) if f.default is dataclasses.MISSING}
    env = WorkerEnv(**{**values, "queue_urls": {}, "dead_letter_urls": {}, "protection": True})
    with pytest.raises(ContractError, match=r"^HEADWAY_PROTECTION must be on or off, got 'true'$"):
        WorkerEnv.from_env({**env.to_env(), "HEADWAY_PROTECTION": "true"})


def test_empty_fast_queue_is_unset() -> None:
    """An absent switch and an empty one are one thing: FAST_QUEUE is left out, and read back as empty."""
    env = ProducerEnv(stage="a", region="b", queue_urls={}, drawings_bucket="c")
    assert "FAST_QUEUE" not in env.to_env()
    assert ProducerEnv.from_env({**env.to_env(), "FAST_QUEUE": "  "}).fast_queue == ""


def test_ecs_agents_variable_is_never_written() -> None:
    """ECS_AGENT_URI is the agent's own to set (ECS guide, task scale-in protection endpoint)."""
    assert WorkerEnv.variables()["agent_uri"] == "ECS_AGENT_URI"
    assert {f.name: f.default for f in dataclasses.fields(WorkerEnv)}["agent_uri"] == ""
