"""When is a worker of no use? By the age of its lane's last answer, not by being alive."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway.worker.liveness import TOO_OLD_S, Liveness


def check(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run the container's health check where ``tmp_path`` is its writable folder."""
    return subprocess.run(
        [sys.executable, "-m", "headway.worker.liveness"],
        env={"PATH": os.defpath, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_worker_that_never_had_an_answer_is_unhealthy(tmp_path: Path) -> None:
    """Alive is not enough."""
    assert Liveness(tmp_path / "mark").age_s() == float("inf")
    assert check(tmp_path).returncode == 1


@pytest.mark.parametrize(("age_s", "code"), [(0, 0), (TOO_OLD_S - 5, 0), (TOO_OLD_S + 5, 1)])
def test_the_health_check_goes_by_the_age_of_the_last_answer(age_s: float, code: int, tmp_path: Path) -> None:
    """Healthy up to the limit, and one line that says why beyond it."""
    liveness = Liveness(tmp_path / "headway-consuming")
    liveness.mark()
    then = liveness.path.stat().st_mtime - age_s
    os.utime(liveness.path, (then, then))
    done = check(tmp_path)
    assert done.returncode == code
    assert done.stderr.count("\n") == code


def test_marks_cost_a_write_a_second_at_most(tmp_path: Path) -> None:
    """Full slots are looked at ten times a second; the file is not touched as often."""
    liveness = Liveness(tmp_path / "mark")
    liveness.mark()
    liveness.path.unlink()
    liveness.mark()
    assert not liveness.path.exists()


def test_the_check_imports_no_celery(tmp_path: Path) -> None:
    """It runs every half minute in every container."""
    loaded = "import sys, headway.worker.liveness; print('celery' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
