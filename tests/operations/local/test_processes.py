"""No process outlives its stage."""

import os
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from headway_ops.local.processes import Ledger, signal_group, spawn, stop

ENV = {"PATH": os.defpath}
#: A process that ignores SIGTERM, with a child of its own; it says when it is ready by writing to its log.
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""


def child_of(log: Path) -> psutil.Process:
    """Wait until a stubborn process has named its child."""
    deadline = time.monotonic() + 20
    while not (text := log.read_text(encoding="ascii").strip()):
        assert time.monotonic() < deadline
        os.sched_yield()
    return psutil.Process(int(text))


def test_reaping_ends_every_process_and_its_children(tmp_path: Path) -> None:
    """After reap, neither a process in the ledger nor its child is there, and the ledger is empty."""
    ledger, log = Ledger(tmp_path / "ledger"), tmp_path / "log"
    process = spawn([sys.executable, "-c", STUBBORN], env=ENV, log=log, ledger=ledger)
    child = child_of(log)
    assert ledger.reap() == 1
    assert process.wait(10) == -signal.SIGKILL
    child.wait(10)
    assert ledger.reap() == 0


def test_stopping_kills_what_ignores_sigterm(tmp_path: Path) -> None:
    """A process that ignores SIGTERM is killed with its children once its time is over."""
    log = tmp_path / "log"
    process = spawn([sys.executable, "-c", STUBBORN], env=ENV, log=log, ledger=Ledger(tmp_path / "ledger"))
    child = child_of(log)
    stop(process, within_s=0.1)
    assert process.returncode == -signal.SIGKILL
    child.wait(10)


def test_a_pid_that_somebody_else_has_by_now_is_left_alone(tmp_path: Path) -> None:
    """A ledger from before this process started does not end it, though the pid is the same."""
    bystander = spawn(["/bin/sleep", "600"], env=ENV, log=tmp_path / "log", ledger=Ledger(tmp_path / "other"))
    (tmp_path / "ledger").write_text(f"{bystander.pid} {time.time() - 3_600}\n", encoding="ascii")
    assert Ledger(tmp_path / "ledger").reap() == 0
    assert bystander.poll() is None
    signal_group(bystander, signal.SIGKILL)
    bystander.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal is Linux's")
def test_a_killed_parent_takes_its_processes_along(tmp_path: Path) -> None:
    """Kill -9 of the process that spawned leaves nothing running, with no ledger to reap."""
    program = (
        "import pathlib, sys, time\n"
        "from headway_ops.local.processes import Ledger, spawn\n"
        f"p = spawn(['/bin/sleep', '600'], env={{}}, log=pathlib.Path({str(tmp_path / 'child')!r}),"
        f" ledger=Ledger(pathlib.Path({str(tmp_path / 'inner')!r})))\n"
        "print(p.pid, flush=True)\ntime.sleep(600)\n"
    )
    log = tmp_path / "log"
    parent = spawn([sys.executable, "-c", program], env=ENV, log=log, ledger=Ledger(tmp_path / "ledger"))
    grandchild = child_of(log)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait(10)
    grandchild.wait(10)
