"""Keep a local stage running until it is told to stop: python -m headway_ops.local.keeper STAGE SPEED."""

import signal
import sys
import threading

from headway.jobs.database import JobStoreError
from headway_ops.local.errors import StageError
from headway_ops.local.stage import local_stage
from stacks.loading import SettingsError, load_stage


def main() -> int:
    """Run until SIGTERM; return the exit code."""
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    try:
        with local_stage(load_stage(sys.argv[1]), speed=float(sys.argv[2]), seed=1, report=_say):
            ended.wait()
    except SettingsError as error:
        _say(str(error))
        return 3
    except StageError as error:
        _say(str(error))
        return error.exit_code
    except JobStoreError as error:
        _say(str(error))
        return 4
    return 0


def _say(message: str) -> None:
    sys.stderr.write(f"headway: {message}\n")


if __name__ == "__main__":
    sys.exit(main())
