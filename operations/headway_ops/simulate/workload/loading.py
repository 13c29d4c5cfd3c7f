"""Workload files: TOML with phases, or with a file of arrivals; refused in one line before anything runs."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from headway_ops.simulate.workload.errors import WorkloadError
from headway_ops.simulate.workload.recorded import arrivals, durations
from headway_ops.simulate.workload.values import Deploy, JobShape, Phase, Workload

_SHIPPED = files("headway_ops.simulate.workload") / "shipped"
_FILE_KEYS = {"phases", "repeat", "arrivals_csv", "calls_log", "job", "deploys", "drain_h"}


def shipped() -> list[str]:
    """Return the names of the workloads that come with Headway."""
    return sorted(entry.name.removesuffix(".toml") for entry in _SHIPPED.iterdir() if entry.name.endswith(".toml"))


def load_workload(name: str) -> Workload:
    """Return the shipped workload of that name, or the one in the TOML file of that path.

    Raises:
        WorkloadError: there is none, or a value cannot be used.
    """
    if name in shipped():
        return parse(name, (_SHIPPED / f"{name}.toml").read_text(encoding="utf-8"), Path())
    path = Path(name)
    if not path.is_file():
        raise WorkloadError(f"workload = {name!r}: no such file, and none of {', '.join(shipped())}")
    return parse(path.stem, path.read_text(encoding="utf-8", errors="replace"), path.parent)


def parse(name: str, text: str, folder: Path) -> Workload:
    """Return the workload of a TOML text; the files that it names are looked for in ``folder``.

    Raises:
        WorkloadError: a value cannot be used.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WorkloadError(f"{name}: not TOML: {error}") from None
    _known(name, document, _FILE_KEYS)
    phases = tuple(_phase(f"{name}: phases[{i}]", table) for i, table in enumerate(_tables(name, document, "phases")))
    recorded = arrivals(folder / str(document["arrivals_csv"])) if "arrivals_csv" in document else ()
    if bool(phases) == bool(recorded):
        raise WorkloadError(f"{name}: phases: give [[phases]] or arrivals_csv, and not both")
    deploys = _tables(name, document, "deploys")
    return Workload(
        name=name,
        phases=phases,
        repeat=int(_number(f"{name}: repeat", document.get("repeat", 1), 1, 10_000, whole=True)),
        arrivals_s=recorded,
        job=_job(f"{name}: job", document.get("job", {}), document.get("calls_log"), folder),
        deploys=tuple(_deploy(f"{name}: deploys[{i}]", table) for i, table in enumerate(deploys)),
        drain_h=_number(f"{name}: drain_h", document.get("drain_h", 24.0), 0.1, 1_000),
    )


def _phase(field: str, table: Mapping[str, Any]) -> Phase:
    _known(field, table, {"minutes", "jobs_per_min", "peak_jobs_per_min", "jobs"})
    if "minutes" not in table:
        raise WorkloadError(f"{field}.minutes: missing; say how long the phase lasts")
    rate = _number(f"{field}.jobs_per_min", table.get("jobs_per_min", 0.0), 0, 10_000)
    peak = _number(f"{field}.peak_jobs_per_min", table.get("peak_jobs_per_min", 0.0), 0, 10_000)
    if peak and not rate <= peak <= 2 * rate:
        raise WorkloadError(
            f"{field}.peak_jobs_per_min = {peak:g}: must be jobs_per_min to twice it, or the rate would fall below 0"
        )
    jobs = int(_number(f"{field}.jobs", table.get("jobs", 0), 0, 1_000_000, whole=True))
    if jobs and rate:
        raise WorkloadError(f"{field}.jobs = {jobs}: jobs_per_min is given too; keep one of them")
    minutes = _number(f"{field}.minutes", table["minutes"], 0.01, 600_000)
    return Phase(minutes=minutes, jobs_per_min=rate, peak_jobs_per_min=peak, jobs=jobs)


def _job(field: str, table: Mapping[str, Any], log: Any, folder: Path) -> JobShape:
    _known(field, table, {"fast_s", "blocks", "calls", "call_s"})
    default = JobShape()
    blocks = _range(f"{field}.blocks", table.get("blocks", default.blocks), 1, 1_000, whole=True)
    return JobShape(
        fast_s=_range(f"{field}.fast_s", table.get("fast_s", default.fast_s), 0.001, 3_600),
        blocks=(int(blocks[0]), int(blocks[1])),
        calls=_calls(f"{field}.calls", table["calls"]) if "calls" in table else default.calls,
        call_s=_range(f"{field}.call_s", table.get("call_s", default.call_s), 0.001, 39_600),
        recorded_call_s=durations(folder / str(log)) if log else (),
    )


def _calls(field: str, table: Any) -> tuple[tuple[int, float], ...]:
    if not isinstance(table, Mapping) or not all(str(count).isdigit() and int(count) for count in table):
        raise WorkloadError(f"{field} = {table!r}: must map numbers of calls to chances, as in {{ 1 = 0.7, 2 = 0.3 }}")
    chances = tuple((int(count), _number(f"{field}.{count}", chance, 0, 1)) for count, chance in table.items())
    if not math.isclose(total := sum(chance for _, chance in chances), 1, abs_tol=1e-6):
        raise WorkloadError(f"{field}: the chances add up to {total:g}; make it 1")
    return chances


def _deploy(field: str, table: Mapping[str, Any]) -> Deploy:
    _known(field, table, {"at_min"})
    return Deploy(at_min=_number(f"{field}.at_min", table.get("at_min", -1), 0, 600_000))


def _tables(name: str, document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    tables = document.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise WorkloadError(f"{name}: {key}: must be tables, [[{key}]]")
    return tables


def _known(field: str, table: Any, keys: set[str]) -> None:
    if not isinstance(table, Mapping):
        raise WorkloadError(f"{field} = {table!r}: must be a table")
    if unknown := sorted(set(table) - keys):
        raise WorkloadError(f"{field}: {unknown[0]}: unknown; known are {', '.join(sorted(keys))}")


def _number(field: str, value: Any, low: float, high: float, *, whole: bool = False) -> float:
    kind = "a whole number" if whole else "a number"
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not math.isfinite(value):
        raise WorkloadError(f"{field} = {value!r}: must be {kind}")
    if not low <= value <= high:
        raise WorkloadError(f"{field} = {value!r}: must be {low:g}..{high:g}; set {low if value < low else high:g}")
    return value


def _range(field: str, value: Any, low: float, high: float, *, whole: bool = False) -> tuple[float, float]:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise WorkloadError(f"{field} = {value!r}: must be two numbers, lowest and highest")
    first, last = (_number(field, item, low, high, whole=whole) for item in value)
    if first > last:
        raise WorkloadError(f"{field} = {list(value)}: must rise; swap them")
    return first, last
