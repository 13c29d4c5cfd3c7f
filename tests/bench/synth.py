"""What does it cost to synthesize every stage, against an empty Python CDK app? Prints the ratio; the goal is 1.3.

CPU is what the children used (user and system): Python, and the Node process in which the CDK runs. The runs
alternate, so that a busy machine slows all alike. Both apps run as they ship: an empty app checks its one template
with the CDK's rules; ours leaves the rules to the tests (see app.py). What each costs the other way is printed too.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GOAL = 1.3
ROUNDS = 3
#: The least app that CloudFormation takes: a template must have a resource.
EMPTY = """
import aws_cdk as cdk
app = cdk.App()
cdk.CfnWaitConditionHandle(cdk.Stack(app, "Empty"), "Handle")
app.synth()
"""
#: What is compared: a command, and the variables it runs with besides the bench's own.
APPS: Mapping[str, tuple[Sequence[str], Mapping[str, str]]] = {
    "empty": ([sys.executable, "-c", EMPTY], {}),
    "empty, rules off": ([sys.executable, "-c", EMPTY], {"CDK_VALIDATION": "false"}),
    # As cdk.json has it: -O leaves out the run-time type checks of the CDK's bindings, which mypy made before.
    "ours": ([sys.executable, "-O", "app.py"], {}),
    "ours, rules on": ([sys.executable, "-O", "app.py"], {"CDK_VALIDATION": "true"}),
}


def cpu_s(command: Sequence[str], variables: Mapping[str, str]) -> float:
    """Return the CPU seconds that ``command`` and its children use, run as `cdk synth` runs it."""
    context = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    own = {
        name: value for name, value in os.environ.items() if name not in ("CDK_VALIDATION", "PYTHONDONTWRITEBYTECODE")
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**own, "CDK_OUTDIR": folder, "CDK_CONTEXT_JSON": json.dumps(context), **variables}
        subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def main() -> int:
    """Measure, print, and return 0 where the goal is met."""
    # The first round fills every cache, and is not counted.
    rounds = [{name: cpu_s(*app) for name, app in APPS.items()} for _ in range(ROUNDS + 1)][1:]
    median = {name: statistics.median(round_[name] for round_ in rounds) for name in APPS}
    for name, seconds in median.items():
        sys.stdout.write(f"{name:>16}: {seconds:5.2f} s of CPU, {seconds / median['empty']:.2f} x the empty app\n")
    ratio = median["ours"] / median["empty"]
    sys.stdout.write(f"ratio {ratio:.2f}, goal {GOAL}\n")
    return 0 if ratio <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
