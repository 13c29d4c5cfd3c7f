"""What a configured app carries for its bootsteps: Celery hands them the app and nothing else."""

from dataclasses import dataclass

from headway.clock import StageClock
from headway.contract import WorkerEnv
from headway.worker.stopping import Stop


@dataclass(frozen=True)
class Setup:
    """What a worker was told, how fast its stage runs, and the flag that a stop raises."""

    env: WorkerEnv
    clock: StageClock
    stop: Stop
