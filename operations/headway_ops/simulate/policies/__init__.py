"""Every policy that can size a fleet, as a value of one interface: Headway's own and its peers'."""

from headway_ops.simulate.policies.policy import Controller, Looks, Policy
from headway_ops.simulate.policies.published import headway

__all__ = ["Controller", "Looks", "Policy", "headway"]
