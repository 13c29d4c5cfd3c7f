"""Which numbers of a stage meet a wait for the least money? Simulated, and proposed as a change of stages.toml."""

from headway_ops.planning.candidate import Candidate
from headway_ops.planning.limits import quota_for
from headway_ops.planning.proposal import diff
from headway_ops.planning.search import Ask, Scored, Scorer, propose

__all__ = ["Ask", "Candidate", "Scored", "Scorer", "diff", "propose", "quota_for"]
