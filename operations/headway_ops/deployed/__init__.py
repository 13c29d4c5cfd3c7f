"""A stage as AWS has it: read, and nothing else."""

from headway_ops.deployed.lanes import DeployedLane, Queue
from headway_ops.deployed.scaling import Alarm, DeployedScaling
from headway_ops.deployed.services import Definition, DeployedService, RunningTask
from headway_ops.deployed.stack import Resource, Stack
from headway_ops.deployed.stage import LANES, DeployedStage

__all__ = [
    "LANES",
    "Alarm",
    "Definition",
    "DeployedLane",
    "DeployedScaling",
    "DeployedService",
    "DeployedStage",
    "Queue",
    "Resource",
    "RunningTask",
    "Stack",
]
