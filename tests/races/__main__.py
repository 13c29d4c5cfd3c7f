"""``make races``: RACES=100000 random races, then each mutant; writes out/races/report.json, exit 1 on any finding."""

import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from headway_ops.local.interrupts import raise_on_signals
from headway_ops.local.postgres import postgres
from headway_ops.local.project import PROJECT
from tests.races.mutants import MUTANTS, caught
from tests.races.players import hall

_REPORT = PROJECT / "out" / "races" / "report.json"
_LEAST_MUTANTS = 10


def main() -> int:
    """Play, report, and return 0 where no race broke a rule and every mutant was found."""
    raise_on_signals()
    races = int(os.environ.get("RACES") or 100_000)
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1_000_000))
    sys.stderr.write(f"races: {races:,}, SEED={seed}\n")
    with tempfile.TemporaryDirectory() as folder, postgres(Path(folder) / "postgres") as server:
        server.upgrade()
        with hall(server) as races_hall:
            races_hall.play(races=100, seed=seed)  # processes and plans are warm
            began = time.monotonic()
            violations = races_hall.play(races=races, seed=seed + 1)
            took_s = time.monotonic() - began
            missed = [mutant.name for mutant in MUTANTS if not caught(mutant, races_hall, seed=seed + 2)]
    report = {
        "races": races,
        "violations": len(violations),
        "mutants_caught": len(MUTANTS) - len(missed),
        "mutants_missed": len(missed),
        "races_per_s": round(races / took_s),
        "seed": seed,
    }
    _REPORT.parent.mkdir(parents=True, exist_ok=True)
    _REPORT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(_REPORT.read_text(encoding="utf-8"))
    for violation in violations[:20]:
        sys.stderr.write(f"{violation.rule}: job {violation.job}, {', '.join(violation.players)}\n")
    for name in missed:
        sys.stderr.write(f"missed: {name}\n")
    return 1 if violations or missed or len(MUTANTS) < _LEAST_MUTANTS else 0


if __name__ == "__main__":
    sys.exit(main())
