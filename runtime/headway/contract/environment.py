"""An environment as one frozen type with two ends, and how each of its values becomes text and a value again.

The CDK calls ``to_env()`` when it writes a task definition or a function, and the process calls
``from_env(os.environ)`` when it starts. A variable is the field's name in capitals behind ``HEADWAY_``, unless the
field names another. Neither end spells a variable by hand, so they cannot disagree.
"""

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Self, get_type_hints

PREFIX = "HEADWAY_"


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
