"""The order in which a stage's stacks go forward and back: one set of rules for every command that moves them."""

from headway_ops.promotion.rules import Phase, Promotion, StackState
from headway_ops.promotion.state import lanes_of, promotion_of

__all__ = ["Phase", "Promotion", "StackState", "lanes_of", "promotion_of"]
