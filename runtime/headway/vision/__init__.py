"""Drawings in, answers out: open a drawing, cut it into blocks, and ask a vision model about each one."""
