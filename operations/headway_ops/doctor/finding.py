"""What is wrong, by a name that stays; and what could not be found out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Finding:
    """One thing that is not as stages.toml says: its name, the part of the stage, and one line with both values."""

    name: str
    where: str
    says: str

    def __str__(self) -> str:
        return f"{self.name}: {self.where}: {self.says}"


@dataclass(frozen=True)
class Row:
    """One setting side by side. ``values`` are text by where each was read, ``source`` where the first comes from."""

    where: str
    setting: str
    source: str
    values: Mapping[str, str]


@dataclass(frozen=True)
class Diagnosis:
    """Everything that was compared, what differs, and what could not be compared and why."""

    rows: Sequence[Row]
    findings: Sequence[Finding]
    notices: Sequence[str]
