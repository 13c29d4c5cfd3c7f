"""``make faults``: every automated fault by name, then faults at random; writes out/faults/report.json.

JOBS=1000 says how many jobs, SOAK=1 means ten thousand, SEED= repeats a run, HEADWAY_SPEED=30 is stage seconds in a
wall second.
"""

import json
import os
import random
import shutil
import sys
from dataclasses import asdict
from typing import Any

from headway.jobs import migrate
from headway_ops.local.postgres import postgres_server
from headway_ops.local.project import PROJECT
from tests.faults import chaos
from tests.runtime.support.emulator import emulated_aws
from tests.runtime.support.stage import KEYS

_REPORT = PROJECT / "out" / "faults" / "report.json"


def main() -> int:
    """Run, report, and return 0 where nothing was lost, repeated or left."""
    jobs = int(os.environ.get("JOBS") or (10_000 if os.environ.get("SOAK") == "1" else 1_000))
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1_000_000))
    speed = float(os.environ.get("HEADWAY_SPEED") or 30)
    sys.stderr.write(f"faults: seed {seed}\n")
    report: dict[str, Any] = {"seed": seed}
    # What the processes said stays until the next run.
    folder = _REPORT.parent / "logs"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with postgres_server(folder / "postgres") as database, emulated_aws(folder) as endpoint:
        os.environ |= {"AWS_ENDPOINT_URL": endpoint, **KEYS}
        migrate.upgrade(database.secret)
        counts = chaos.run(endpoint, database, folder, jobs=jobs, seed=seed, speed=speed)
        report |= asdict(counts)
    _REPORT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(_REPORT.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
