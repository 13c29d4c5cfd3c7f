"""``make audit``: every stage's templates against every rule; writes out/audit/report.json."""

import json
import sys

from stacks.loading import load_stages
from tests.audit.report import FINDINGS, measure
from tests.synth import ROOT

_REPORT = ROOT / "out" / "audit" / "report.json"


def main() -> int:
    """Write the report; return 0, or 1 where something was found that should not be there."""
    counts = measure(load_stages())
    _REPORT.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(counts, indent=2) + "\n"
    _REPORT.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return int(any(counts[name] for name in FINDINGS))


if __name__ == "__main__":
    sys.exit(main())
