"""Senders: take a drawing in, and send its job to the lane that the stage's rollout switch names."""

from headway.producer.routing import Route, choose_lane
from headway.producer.submit import Producer, SubmitError

__all__ = ["Producer", "Route", "SubmitError", "choose_lane"]
