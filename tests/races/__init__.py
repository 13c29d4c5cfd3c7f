"""Races over one job on real PostgreSQL: scripted ones, random ones, and what they catch when a lock is taken away."""
