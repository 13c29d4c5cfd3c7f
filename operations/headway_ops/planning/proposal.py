"""A proposal as a change of stages.toml, line by line, as a reviewer reads it."""

from collections.abc import Iterator

from headway_ops.planning.candidate import Candidate
from headway_ops.simulate import SimulatedStage
from headway_ops.simulate.variation import IN_PERIODS

_SERVICE = ("concurrency", "max_inflight", "min_tasks", "max_tasks")
_SCALING = ("spare_slots", "burst_beta", "publish_every_s")


def diff(stage: SimulatedStage, proposed: Candidate) -> str:
    """Return the lines that the stage's tables would lose and get; nothing where all stays as it is."""
    now, then = Candidate.of(stage), proposed.applied_to(stage)
    service = list(_changes(now, proposed, _SERVICE))
    if proposed.concurrency != now.concurrency:
        service += [
            ("cpu_units", stage.heavy.cpu_units, then.heavy.cpu_units),
            ("memory_mib", stage.heavy.memory_mib, then.heavy.memory_mib),
        ]
    scaling = list(_changes(now, proposed, _SCALING))
    if proposed.publish_every_s != now.publish_every_s:
        scaling.append(("in_periods", IN_PERIODS[now.publish_every_s], IN_PERIODS[proposed.publish_every_s]))
    tables = {f"stages.{stage.name}.services.heavy": service, f"stages.{stage.name}.scaling": scaling}
    return "".join(
        f" [{table}]\n" + "".join(f"-{name} = {old}\n+{name} = {new}\n" for name, old, new in changes)
        for table, changes in tables.items()
        if changes
    )


def _changes(now: Candidate, then: Candidate, names: tuple[str, ...]) -> Iterator[tuple[str, float, float]]:
    for name in names:
        old, new = getattr(now, name), getattr(then, name)
        if old != new:
            yield name, old, new
