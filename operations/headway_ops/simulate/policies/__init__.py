"""Every policy that can size a fleet, as a value of one interface: Headway's own, its peers' and the bounds."""

from headway_ops.simulate.policies.bounds import clairvoyant, oracle
from headway_ops.simulate.policies.peers import peers
from headway_ops.simulate.policies.policy import Controller, Looks, Policy
from headway_ops.simulate.policies.published import headway

__all__ = ["Controller", "Looks", "Policy", "clairvoyant", "headway", "oracle", "peers"]
