"""The rollout switch: one step at a time, as one changed line of stages.toml."""

from headway_ops.rollout.edit import RolloutError, edited
from headway_ops.rollout.steps import obstacles, refusal

__all__ = ["RolloutError", "edited", "obstacles", "refusal"]
