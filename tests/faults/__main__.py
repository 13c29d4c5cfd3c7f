"""``make faults``: every automated fault by name, a hundred stops, then faults at random; out/faults/report.json.

JOBS=1000 says how many jobs, SOAK=1 means ten thousand, STOPS=100 how many stops, SEED= repeats a run, HEADWAY_SPEED=30
is stage seconds in a wall second.
"""

import json
import os
import random
import shutil
import sys
from dataclasses import asdict

from headway_ops.local.interrupts import raise_on_signals
from headway_ops.local.postgres import postgres
from headway_ops.local.project import PROJECT
from tests.faults import chaos, named, sigterm
from tests.runtime.support.emulator import emulated_aws
from tests.runtime.support.stage import KEYS

_REPORT = PROJECT / "out" / "faults" / "report.json"


def main() -> int:
    """Run, report, and return 0 where every fault was survived and nothing was lost, repeated or left."""
    raise_on_signals()
    jobs = int(os.environ.get("JOBS") or (10_000 if os.environ.get("SOAK") == "1" else 1_000))
    runs = int(os.environ.get("STOPS") or 100)
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1_000_000))
    speed = float(os.environ.get("HEADWAY_SPEED") or 30)
    # What the processes said stays until the next run.
    logs = _REPORT.parent / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    faults = named.run()
    sys.stderr.write(f"faults: {jobs:,} jobs and {runs} stops, SEED={seed}\n")
    with postgres(logs / "postgres") as database, emulated_aws(logs) as endpoint:
        os.environ |= {"AWS_ENDPOINT_URL": endpoint, **KEYS}
        database.upgrade()
        stops = sigterm.run(endpoint, database.secret, logs, runs=runs, seed=seed)
        counts = chaos.run(endpoint, database, logs, wanted=jobs, seed=seed, speed=speed)
    automated = list(faults.values()).count("passed")
    report = {"seed": seed, "faults_automated": automated, **asdict(counts), "sigterm": asdict(stops), "faults": faults}
    _REPORT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(_REPORT.read_text(encoding="utf-8"))
    survived = automated == len(faults)
    return 0 if survived and stops.clean and counts.clean else 1


if __name__ == "__main__":
    sys.exit(main())
