"""Senders."""
