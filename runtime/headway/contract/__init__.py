"""What does a process need from its surroundings, and who promises to put it there? Standard library only."""

from headway.contract.bucket import BLOCKS_PREFIX, DRAWINGS_PREFIX
from headway.contract.environment import ContractError, Environment
from headway.contract.processes import (
    BrokerEnv,
    MigrationEnv,
    ProducerEnv,
    PublisherEnv,
    ReconcilerEnv,
    WebEnv,
    WorkerEnv,
)
from headway.contract.secrets import DatabaseSecret, ModelSecret, OwnerSecret, WebSecret

__all__ = [
    "BLOCKS_PREFIX",
    "DRAWINGS_PREFIX",
    "BrokerEnv",
    "ContractError",
    "DatabaseSecret",
    "Environment",
    "MigrationEnv",
    "ModelSecret",
    "OwnerSecret",
    "ProducerEnv",
    "PublisherEnv",
    "ReconcilerEnv",
    "WebEnv",
    "WebSecret",
    "WorkerEnv",
]
