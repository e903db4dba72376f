"""Timelines: what ran when, and for which node."""
