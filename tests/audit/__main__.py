"""``make audit``: every stage's templates against every rule, and seeded drifts against the doctor.

Writes out/audit/report.json.
"""

import json
import sys

from headway_ops.local.interrupts import raise_on_signals
from stacks.loading import load_stages
from tests.audit.report import FINDINGS, measure
from tests.operations.doctor.drifts import seeded_and_found
from tests.synth import ROOT

_REPORT = ROOT / "out" / "audit" / "report.json"


def main() -> int:
    """Write the report; return 0, or 1 where something was found that should not be there, or a drift was not."""
    raise_on_signals()
    counts = measure(load_stages())
    seeded, found = seeded_and_found()
    report = {**counts, "drifts_seeded": seeded, "drifts_found": found}
    _REPORT.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, indent=2) + "\n"
    _REPORT.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return int(any(counts[name] for name in FINDINGS) or found < seeded)


if __name__ == "__main__":
    sys.exit(main())
