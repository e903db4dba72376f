"""Anything that runs a model."""
