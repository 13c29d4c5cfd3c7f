"""Tests; the folders mirror the source roots."""
