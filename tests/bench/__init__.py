"""Benchmarks with a goal: each exits 1 where it is missed."""
