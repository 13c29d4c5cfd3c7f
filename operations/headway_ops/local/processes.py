"""How does no process outlive its stage, whatever ends it?

Every process is the leader of its own session, so that its children can be signalled with it; the kernel kills it
when the process that started it dies (Linux); and it is written into a ledger before it can do anything, so that the
next start ends what a kill -9 left behind on any system. Standard library only: the emulator's environment has no
other.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
#: A pid is taken for the ledger's process only if it started no later than this after it was written down.
_START_SLACK_S = 2.0
_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)


class Ledger:
    """The processes a stage has started, one line each: pid and wall time of its start."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, pid: int) -> None:
        """Write down a process that was just started."""
        with self._path.open("a", encoding="ascii") as lines:
            lines.write(f"{pid} {time.time():.3f}\n")

    def reap(self) -> int:
        """Kill every process group that is still there, and forget them all; return how many there were."""
        if not self._path.exists():
            return 0
        entries = [line.split() for line in self._path.read_text(encoding="ascii").splitlines()]
        killed = sum(_kill_left_over(int(pid), float(started)) for pid, started in entries)
        self._path.unlink()
        return killed


def spawn(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    log: Path,
    ledger: Ledger,
    cwd: Path | None = None,
    user: int | None = None,
) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, its output appended to ``log``.

    Raises:
        OSError: the command cannot be started.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output, _uninterrupted():
        process = subprocess.Popen(  # noqa: S603  # the commands are the stage's own
            [str(part) for part in command],
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            preexec_fn=_in_child,  # two system calls, nothing that a lock could hold up
        )
        ledger.add(process.pid)
    return process


def signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Signal a process and its children; one that has ended is fine."""
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        process.poll()


def stop(process: subprocess.Popen[bytes], *, number: signal.Signals = signal.SIGTERM, within_s: float = 5.0) -> None:
    """End a process: ask it with ``number``, and kill its group if it is still there after ``within_s``."""
    if process.poll() is None:
        process.send_signal(number)
        try:
            process.wait(within_s)
        except subprocess.TimeoutExpired:
            signal_group(process, signal.SIGKILL)
            process.wait()
    signal_group(process, signal.SIGKILL)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold signals back: none comes in the middle of a fork, or between a start and its line in the ledger."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _in_child() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _kill_left_over(pid: int, started: float) -> bool:
    began = _began(pid)
    if began is not None and began > started + _START_SLACK_S:
        return False
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _began(pid: int) -> float | None:
    """Return when a process started, in wall time, or None where it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
        ticks = float(stat.rpartition(")")[2].split()[19])
        boot = next(
            float(line.split()[1])
            for line in Path("/proc/stat").read_text(encoding="ascii").splitlines()
            if line.startswith("btime")
        )
    except (OSError, StopIteration):
        return _began_by_ps(pid)
    return boot + ticks / os.sysconf("SC_CLK_TCK")


def _began_by_ps(pid: int) -> float | None:
    """The same where there is no /proc."""
    if Path("/proc/stat").exists():
        return None
    found = subprocess.run(  # noqa: S603  # fixed command
        ["/bin/ps", "-o", "etimes=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return time.time() - float(found.stdout) if found.stdout.strip() else None
