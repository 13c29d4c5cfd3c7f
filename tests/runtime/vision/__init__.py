"""Drawings, the gate and the model's client."""
