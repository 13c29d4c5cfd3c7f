"""A stage on virtual time: the template about to be deployed under a day of work, in seconds."""

from headway_ops.simulate.conditions import Conditions
from headway_ops.simulate.outcome import Outcome
from headway_ops.simulate.simulation import simulate
from headway_ops.simulate.stage import SimulatedStage, stage_from

__all__ = ["Conditions", "Outcome", "SimulatedStage", "simulate", "stage_from"]
