"""May max_inflight go up? What the per-call log says about it."""

from headway_ops.ramp.advice import Advice, Level, advise
from headway_ops.ramp.calllog import Call, CallLogError, read_calls

__all__ = ["Advice", "Call", "CallLogError", "Level", "advise", "read_calls"]
