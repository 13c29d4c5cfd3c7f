"""Senders: take a drawing in, and send its job to the lane that the stage's rollout switch names."""

from headway.producer.drawings import BucketError, Drawings
from headway.producer.routing import Route, choose_lane
from headway.producer.submit import KeyReusedError, Producer, SubmitError, Submitted

__all__ = [
    "BucketError",
    "Drawings",
    "KeyReusedError",
    "Producer",
    "Route",
    "SubmitError",
    "Submitted",
    "choose_lane",
]
