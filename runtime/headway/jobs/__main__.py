"""``python -m headway.jobs upgrade``: the one-shot task that migrates the job store before the services roll."""

import os
import sys

from headway.contract import ContractError, DatabaseSecret, OwnerSecret
from headway.jobs.database import JobStoreError
from headway.jobs.migrate import upgrade


def main(arguments: list[str]) -> int:
    """Run one command; 0 done, 3 wrong configuration or usage, 4 unreachable. One line says what is wrong."""
    try:
        if arguments != ["upgrade"]:
            raise ContractError("usage: python -m headway.jobs upgrade")
        upgrade(DatabaseSecret.from_env(os.environ), OwnerSecret.from_env(os.environ))
    except (ContractError, JobStoreError) as error:
        sys.stderr.write(f"headway.jobs: {error}\n")
        return 3 if isinstance(error, ContractError) else 4
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
